"""Hits by topic: those that share a word which the query does not have. By what they are about, never by source.

The word that most hits without a topic share names the next one, titles counting double; what shares nothing is left
for the end. No model and no chance: the same hits give the same topics.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from signal_search.contracts.hit import MergedHit
from signal_search.contracts.hit_synthesis import HitTopic

from scoring.text import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS, chinese_words, tokens

MOST_TOPICS = 5
_FEWEST_HITS = 2
_TITLE_COUNTS = 2
_PIECE = re.compile(r"([\u4e00-\u9fff]+)|[A-Za-z][A-Za-z0-9+#.-]*[A-Za-z0-9+#]")
# Words that pages of every kind carry.
_EMPTY = """
    new use used using get got make made how what why best top guide tutorial introduction overview latest news update
    official home page site blog read learn more about vs versus one two first next also like need want work way time
    year day week month today now part step video full free online com org www http https html index
    介绍 使用 进行 可以 通过 一个 如何 最新 发布 我们 时间 问题 相关 以及 更多 内容 文章 网站 官方 详细 简介 教程 方法
"""
_EMPTY_WORDS = frozenset(_EMPTY.split())


def topics_of_hits(hits: Sequence[MergedHit], query_forms: Sequence[str]) -> tuple[HitTopic, ...]:
    """Return the topics, biggest first, and the rest under no label; hits by position from 1, in the order given."""
    asked = {word for form in query_forms for word in tokens(form)}
    words = [_words(each.title, each.snippet) for each in hits]
    left, topics = set(range(len(hits))), list[HitTopic]()
    while len(topics) < MOST_TOPICS:
        label, members = _next_topic(words, left, asked, total=len(hits))
        if not members:
            break
        topics.append(HitTopic(label=label, hits=tuple(at + 1 for at in members)))
        left -= set(members)
    rest = tuple(at + 1 for at in sorted(left))
    return (*topics, *((HitTopic(label="", hits=rest),) if rest else ()))


_Words = dict[str, tuple[str, int]]
"""Of a hit: stem -> the word as written, and what it counts for."""


def _next_topic(
    words: Sequence[_Words], left: set[int], asked: set[str], *, total: int
) -> tuple[str, list[int]]:
    """Return the word that counts most among the hits left, and its hits; a word that all hits have parts nothing."""
    counts: dict[str, int] = {}
    for at in sorted(left):
        for stem, (_word, weight) in words[at].items():
            counts[stem] = counts.get(stem, 0) + weight
    best: tuple[int, str, list[int]] = (0, "", [])
    for stem in sorted(counts.keys() - asked):
        members = [at for at in sorted(left) if stem in words[at]]
        everywhere = sum(stem in each for each in words)
        if len(members) >= _FEWEST_HITS and everywhere < total and counts[stem] > best[0]:
            best = (counts[stem], stem, members)
    _count, stem, members = best
    return (words[members[0]][stem][0] if members else ""), members


@lru_cache(maxsize=256)
def _words(title: str, snippet: str) -> _Words:
    found: _Words = {}
    for text, weight in ((title, _TITLE_COUNTS), (snippet, 1)):
        for word in _telling(text):
            stem = (tokens(word) or [word.casefold()])[0]
            found.setdefault(stem, (word, weight))
    return found


def _telling(text: str) -> Iterator[str]:
    for match in _PIECE.finditer(text):
        for word in chinese_words(match[1]) if match[1] else (match[0],):
            lower = word.lower()
            known = lower in ENGLISH_STOP_WORDS or word in CHINESE_STOP_WORDS
            if not known and lower not in _EMPTY_WORDS and len(word) >= (2 if match[1] else 3):
                yield word
