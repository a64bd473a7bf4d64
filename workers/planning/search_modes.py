"""Which sources a mode asks (search guide, phase 3): Brave always, Exa, Tavily and Grok by the matrix.

A source without a key is no error: it is named as not configured, and the others are asked.
"""

from collections.abc import Collection, Sequence

from msgspec import Struct
from signal_search.contracts.search_plan import SearchMode

BRAVE, EXA, TAVILY, GROK = "brave", "exa", "tavily", "grok"
WEB_SOURCES = (BRAVE, EXA, TAVILY, GROK)

_MATRIX: dict[SearchMode, tuple[str, ...]] = {
    "fast": (EXA,),
    "deep": (EXA, TAVILY, GROK),
    "answer": (TAVILY,),
    "fused": (EXA, TAVILY, GROK),
    "multi": (EXA, TAVILY, GROK),
}
# Who stands in for whom, in which mode: without a key at once, else when the call fails.
_STAND_IN: dict[SearchMode, tuple[str, str]] = {"fast": (EXA, GROK)}


class SourceSet(Struct, frozen=True, kw_only=True):
    """The sources of a search: those asked at once, who stands in for whom, and those without a key or row here."""

    asked: tuple[str, ...]
    instead_of: dict[str, str] = {}
    not_configured: tuple[str, ...] = ()


def sources_for(
    mode: SearchMode,
    configured: Collection[str],
    *,
    wanted: Sequence[str] = (),
    joining: Sequence[str] = (),
) -> SourceSet:
    """Return who is asked, in the order in which answers are merged.

    configured: ids that can be asked here; wanted: the caller's own list, which then counts alone; joining: sources
    without a key that a mode's own list is followed by. instead_of: stand-in -> the source it stands in for.
    """
    listed = tuple(dict.fromkeys(wanted)) or (BRAVE, *_MATRIX[mode])
    absent = tuple(each for each in listed if each not in configured)
    first, second = _STAND_IN.get(mode, ("", ""))
    stands_in = not wanted and first != "" and second in configured
    asked = [each for each in listed if each in configured]
    if stands_in and first not in configured:
        asked.append(second)
    joined = () if wanted else tuple(each for each in joining if each in configured)
    return SourceSet(
        asked=tuple(dict.fromkeys((*asked, *joined))),
        instead_of={second: first} if stands_in and first in configured else {},
        not_configured=absent,
    )
