"""How promising a link is: what its words say about the question, weighed by how rare they are among the links."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from signal_search.contracts.source import Link

from scoring.text import tokens

_ANCHOR_WEIGHT = 1.0
_ADDRESS_WEIGHT = 0.8
_CONTEXT_WEIGHT = 0.4

_BOUNDARY = re.compile(r"[^0-9A-Za-z\u4e00-\u9fff]+|(?<=[a-z])(?=[A-Z])")


def address_words(url: str) -> list[str]:
    """Return the words in the path and query of a URL: `/docs/write-ahead_log.html` gives write, ahead, log, html."""
    parts = urlsplit(url)
    return [word for word in _BOUNDARY.split(unquote(f"{parts.path} {parts.query}")) if word]


def rate_links(wanted: Sequence[str], links: Sequence[Link]) -> list[float]:
    """Return one relevance from 0 to 1 per link: the share of the question's rarity-weighted words it carries.

    `wanted` are the question's tokens. A word that most links carry (the product's own name) counts next to nothing,
    by idf = ln(1 + (N - n + .5) / (n + .5)) over the given links, as in BM25.
    """
    found = [_weights(link) for link in links]
    spread = Counter(word for weights in found for word in weights)
    rarity = {
        word: math.log(1 + (len(links) - spread[word] + 0.5) / (spread[word] + 0.5))
        for word in dict.fromkeys(wanted)
    }
    whole = sum(rarity.values())
    if not whole:
        return [0.0] * len(links)
    return [
        round(sum(rarity[word] * weights.get(word, 0.0) for word in rarity) / whole, 6)
        for weights in found
    ]


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
