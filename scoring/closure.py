"""Whether a research has looked into each of its dimensions: by the words that its anchored sources hold.

The rule is the design document's: there is a source with an address, and each dimension finds one of its words in the
text of such a source. It says that something was found, not that it is right; verdicts and coverage say more.
"""

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

_BETWEEN = re.compile(r"[\s/、，,()（）与和及]+")
_LEAST_LETTERS = 2
_JOINERS = frozenset({"and", "or", "of", "the", "in"})


class Anchor(Struct, frozen=True):
    """What a source says and where it stands; without an address it anchors nothing."""

    url: str
    text: str


def words_of(dimension: str) -> tuple[str, ...]:
    """Return the words of a dimension's name, in lower case: those of two letters or more, without joining words."""
    words = _BETWEEN.split(dimension.lower())
    return tuple(each for each in words if len(each) >= _LEAST_LETTERS and each not in _JOINERS)


def is_closed(dimension: str, sources: Iterable[Anchor]) -> bool:
    """Check that an anchored source has a word of the dimension."""
    words = words_of(dimension)
    texts = (each.text.lower() for each in sources if each.url)
    return any(word in text for text in texts for word in words)


def open_dimensions(dimensions: Iterable[str], sources: Sequence[Anchor]) -> tuple[str, ...]:
    """Return the dimensions that no anchored source has a word of, in their order."""
    return tuple(each for each in dimensions if not is_closed(each, sources))


def is_research_closed(dimensions: Iterable[str], sources: Sequence[Anchor]) -> bool:
    """Check that there is an anchored source and that no dimension is open."""
    return any(each.url for each in sources) and not open_dimensions(dimensions, sources)
