"""How close together the words of a claim stand in a sentence: words picked from all over it state nothing."""

import re
from collections.abc import Sequence

from scoring.claims.passage import Passage

_ASIDE = re.compile(r"\([^()]*\)|（[^（）]*）")
_CLAUSE_START = re.compile("[，,；;、）)][其并現现也则於于由是为為共又]?$")


def density_of(sentence: Passage, places: Sequence[int]) -> float:
    """Return repeated words per word of the stretch from the first to the last of `places`, 0 to 1.

    Brackets are asides and do not count. In a Chinese topic chain (the subject opens the sentence, the statement opens
    a later clause: 广茂铁路是…的铁路，全长364公里) the clauses between do not count either.
    """
    head, tail = _parted(places)
    if tail and sentence.chinese and head[0] == 0 and _opens_clause(sentence, tail[0]):
        return min(_compactness(sentence, head), _compactness(sentence, tail))
    return _compactness(sentence, places)


def _parted(places: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
    """Part the places at their widest gap."""
    cut = max(
        range(1, len(places)), key=lambda at: places[at] - places[at - 1], default=len(places)
    )
    return places[:cut], places[cut:]


def _opens_clause(sentence: Passage, place: int) -> bool:
    start = sentence.written[place][1]
    return bool(_CLAUSE_START.search(sentence.plain, max(0, start - 2), start))


def _compactness(sentence: Passage, places: Sequence[int]) -> float:
    asides = [match.span() for match in _ASIDE.finditer(sentence.plain)]
    repeated = set(places)
    counted = [
        place
        for place in range(places[0], places[-1] + 1)
        if place in repeated or not any(a <= sentence.written[place][1] < b for a, b in asides)
    ]
    return len(repeated) / len(counted)
