"""The programs that are timed, each also written by hand in Python, and the candidates they are timed on.

`classic` is the search guide's example. `maximal` has all 256 nodes at the full depth of 32. No import of the product:
the peers' process reads this file too.
"""

import math
import random
from typing import TypedDict

Ordered = tuple[tuple[int, ...], tuple[float, ...]]


class Row(TypedDict):
    """A candidate's features; None where it is not known."""

    lexical: float
    phrase: float
    citations: float | None
    year: float | None
    age_years: float | None
    source_count: float


CLASSIC = ("lexical >= 0.5", "lexical * exp(-coalesce(age_years, 10) / 2)")

_MAXIMAL_FILTER = "+lexical >= 0.05 and source_count >= 1 and not is_missing(source_count)"
_MAXIMAL_TERMS = (
    "lexical * 1.5",
    "log1p(source_count)",
    "coalesce(citations, 0) / 7",
    "where(phrase > 0.2, phrase, 0.1)",
    "max(lexical, 0.25)",
    "sqrt(lexical)",
)


def _chain(terms: int) -> str:
    text = "exp(-coalesce(age_years, 10) / 2)"
    for at in range(terms):
        text += f" {'-' if at % 5 == 4 else '+'} {_MAXIMAL_TERMS[at % len(_MAXIMAL_TERMS)]}"
    return text


MAXIMAL = (_MAXIMAL_FILTER, _chain(25))


def rows(count: int) -> list[Row]:
    """Return candidates as features; the same every time."""
    pick = random.Random(7)
    return [_row(pick) for _ in range(count)]


def _row(pick: random.Random) -> Row:
    year = pick.randint(1990, 2026) if pick.random() < 0.9 else None
    return {
        "lexical": pick.choice((0.25, 0.5, 0.75, 1.0)) * pick.choice((0.5, 1.0)),
        "phrase": pick.choice((0.0, 0.25, 0.5)),
        "citations": float(pick.randint(0, 5000)) if pick.random() < 0.7 else None,
        "year": None if year is None else float(year),
        "age_years": None if year is None else float(2026 - year),
        "source_count": float(pick.randint(1, 4)),
    }


def classic_by_hand(given: list[Row]) -> Ordered:
    exp = math.exp
    kept = []
    for at, row in enumerate(given):
        lexical = row["lexical"]
        if lexical >= 0.5:
            age = row["age_years"]
            kept.append((lexical * exp(-(10.0 if age is None else age) / 2.0), at))
    kept.sort(key=lambda each: each[0], reverse=True)
    return tuple([at for _score, at in kept]), tuple([score for score, _at in kept])


def maximal_by_hand(given: list[Row]) -> Ordered:
    exp, log1p, sqrt = math.exp, math.log1p, math.sqrt
    kept = []
    for at, row in enumerate(given):
        lexical, phrase, sources = row["lexical"], row["phrase"], row["source_count"]
        citations, age = row["citations"], row["age_years"]
        if not (+lexical >= 0.05 and sources >= 1 and sources is not None):
            continue
        score = (
            exp(-(10.0 if age is None else age) / 2.0)
            + lexical * 1.5
            + log1p(sources)
            + (0.0 if citations is None else citations) / 7.0
            + (phrase if phrase > 0.2 else 0.1)
            - max(lexical, 0.25)
            + sqrt(lexical)
            + lexical * 1.5
            + log1p(sources)
            + (0.0 if citations is None else citations) / 7.0
            - (phrase if phrase > 0.2 else 0.1)
            + max(lexical, 0.25)
            + sqrt(lexical)
            + lexical * 1.5
            + log1p(sources)
            - (0.0 if citations is None else citations) / 7.0
            + (phrase if phrase > 0.2 else 0.1)
            + max(lexical, 0.25)
            + sqrt(lexical)
            + lexical * 1.5
            - log1p(sources)
            + (0.0 if citations is None else citations) / 7.0
            + (phrase if phrase > 0.2 else 0.1)
            + max(lexical, 0.25)
            + sqrt(lexical)
            - lexical * 1.5
        )
        kept.append((score, at))
    kept.sort(key=lambda each: each[0], reverse=True)
    return tuple([at for _score, at in kept]), tuple([score for score, _at in kept])
