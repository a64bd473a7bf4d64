"""How promising a link is: what its words say about the question, weighed by how rare they are among the links."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from urllib.parse import unquote, urlsplit

from signal_search.contracts.source import Link

from scoring.need import weight_in_question
from scoring.relevance import Variants
from scoring.text import tokens

_ANCHOR_WEIGHT = 1.0
_ADDRESS_WEIGHT = 0.8
_CONTEXT_WEIGHT = 0.4

# A page that lists others is worth a look while nothing better is known, and the more so the more it lists.
_LISTS_ALL_WORDS = (
    "sitemap index contents toc documentation docs all 目录 索引 文档 站点地图 网站地图"
)
_LISTS_SOME_WORDS = (
    "guide manual reference help topics faq overview tutorial list library articles archive wiki "
    "手册 指南 参考 帮助 教程 主题"
)
_LISTS_ALL = frozenset(_LISTS_ALL_WORDS.split())
_LISTS_SOME = frozenset(_LISTS_SOME_WORDS.split())
# A word on a tenth of all links, such as the site's own name, does not say which of them to follow.
_COMMON_SHARE = 0.1
_COMMON = 0.2
_ALL_PRIOR = 0.06
_SOME_PRIOR = 0.03

_BOUNDARY = re.compile(r"[^0-9A-Za-z\u4e00-\u9fff]+|(?<=[a-z])(?=[A-Z])")


def address_words(url: str) -> list[str]:
    """Return the words in the path and query of a URL: `/docs/write-ahead_log.html` gives write, ahead, log, html."""
    parts = urlsplit(url)
    return [word for word in _BOUNDARY.split(unquote(f"{parts.path} {parts.query}")) if word]


def rate_links(variants: Variants, links: Sequence[Link]) -> list[float]:
    """Return one relevance from 0 to 1 per link: the share of the question's rarity-weighted words it carries.

    `variants` are the question's tokens in each language it may be written in; the best one
    counts. A word that most links carry (the product's own name) counts next to nothing,
    by idf = ln(1 + (N - n + .5) / (n + .5)) over the given links, as in BM25.
    """
    found = [_weights(link) for link in links]
    spread = Counter(word for weights in found for word in weights)
    rated = [_rate(wanted, found, spread) for wanted in variants if wanted]
    return [max(each) for each in zip(*rated, strict=True)] if rated else [0.0] * len(links)


def _rate(
    wanted: Sequence[str], found: Sequence[Mapping[str, float]], spread: Mapping[str, int]
) -> list[float]:
    rarity = {
        word: weight_in_question(word) * _rarity(spread.get(word, 0), len(found))
        for word in dict.fromkeys(wanted)
    }
    whole = sum(rarity.values()) or 1.0
    return [
        round(sum(rarity[word] * weights.get(word, 0.0) for word in rarity) / whole, 6)
        for weights in found
    ]


def _rarity(holders: int, links: int) -> float:
    rarity = math.log(1 + (links - holders + 0.5) / (holders + 0.5))
    return rarity * _COMMON if holders > _COMMON_SHARE * links >= 1 else rarity


def hub_prior(link: Link) -> float:
    """Return how likely a link leads to a list of other pages, by its own words: 0, 0.03 or 0.06."""
    words = {word.lower() for word in (*_BOUNDARY.split(link.text), *address_words(link.url))}
    if words & _LISTS_ALL:
        return _ALL_PRIOR
    return _SOME_PRIOR if words & _LISTS_SOME else 0.0


def _weights(link: Link) -> dict[str, float]:
    weights: dict[str, float] = {}
    parts = (
        (link.context, _CONTEXT_WEIGHT),
        (" ".join(address_words(link.url)), _ADDRESS_WEIGHT),
        (link.text, _ANCHOR_WEIGHT),
    )
    for text, weight in parts:
        for word in tokens(text):
            weights[word] = max(weight, weights.get(word, 0.0))
    return weights
