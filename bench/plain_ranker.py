"""Papers at random, and the fixed formula in the plainest way, every text cut into words: the peer of the product's."""

import math
import random
import re
from collections.abc import Sequence

from scoring.candidates import Candidate

_TOPIC = (
    "surface code threshold logical qubits error correction decoder quantum of the and in for with"
)
_TITLE_WORDS, _ABSTRACT_WORDS = 10, 150
_WORD = re.compile(r"[a-z0-9]+")


def some_papers(count: int) -> list[Candidate]:
    pick = random.Random(11)
    # Most words of a paper are not those of the query; some contain one of them.
    syllables = ("ta", "re", "code", "mi", "l", "ent", "qu", "s", "of", "d", "ion", "er")
    words = [*_TOPIC.split(), *("".join(pick.choices(syllables, k=3)) for _ in range(1_500))]

    def text(length: int) -> str:
        return " ".join(pick.choices(words, k=length))

    return [
        Candidate(
            title=text(_TITLE_WORDS).capitalize(),
            abstract=text(_ABSTRACT_WORDS).capitalize() + ".",
            year=pick.randint(1990, 2026) if pick.random() < 0.9 else None,
            citations=pick.randint(0, 5_000) if pick.random() < 0.7 else None,
            doi=f"10.1000/paper.{number}",
            sources=tuple(pick.sample(("arxiv", "openalex", "crossref"), pick.randint(1, 3))),
        )
        for number in range(count)
    ]


def plain_order(papers: Sequence[Candidate], query: str) -> list[int]:
    """Return the papers' order: 1.0 (words + phrases) + 0.6 citations + 0.2 years + 0.15 ln(sources)."""
    words = [word for word in _WORD.findall(query.lower()) if len(word) > 1]
    phrases = [each.strip().casefold() for each in re.findall(r'"([^"]*)"', query)]
    logs = [math.log1p(each.citations) for each in papers if each.citations is not None]
    least, most = min(logs), max(logs)
    years = [each.year for each in papers if each.year is not None]
    first, last = min(years), max(years)
    scores = []
    for paper in papers:
        title, abstract = paper.title.casefold(), paper.abstract.casefold()
        in_title, in_abstract = set(_WORD.findall(title)), set(_WORD.findall(abstract))
        found = sum(
            1.0 if each in in_title else 0.5 if each in in_abstract else 0.0 for each in words
        )
        phrase = sum(
            0.5 if each in title else 0.25 if each in abstract else 0.0 for each in phrases
        )
        cited = 0.5
        if paper.citations is not None:
            cited = (math.log1p(paper.citations) - least) / (most - least)
        recent = 0.0 if paper.year is None else (paper.year - first) / (last - first)
        agreement = 0.15 * math.log(len(set(paper.sources)))
        scores.append(sum((found / len(words), phrase, 0.6 * cited, 0.2 * recent, agreement)))
    return sorted(range(len(papers)), key=scores.__getitem__, reverse=True)
