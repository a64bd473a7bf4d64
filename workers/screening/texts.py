"""The text of a result that a judge reads and a caller sees: taken from what the source gave, never written anew."""

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha1
from math import ceil
from typing import Final

from signal_search.contracts.adaptive_plan import Target

EXCERPT_CHARS: Final = 600
EXCERPTS: Final = 4
TEXT_CHARS: Final = 1800
LEAST_WORDS: Final = 5
RANKS: Final = {"": 0, "snippet": 1, "engine_content": 2, "fetched_page": 3}
"""How much of a page a text shows, by its basis: a better one replaces."""

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]")
_CHARS_PER_WORD = 1.6  # of Chinese and its neighbours
_CONCEPT = re.compile(r"[a-z0-9][a-z0-9._+-]+|[\u3400-\u9fff]{2}", re.IGNORECASE)
_BLOCKS = re.compile(r"\n\s*\n")
_LINK = re.compile(r"\[[^\]\n]*\]\([^)\n]*\)|https?://\S+")
_ADDRESS = re.compile(r"https?://[^\s)]+")
_MANY_LINKS = 3
_FEW_WORDS = 20
_MOSTLY_ADDRESSES = 0.35


def snippet_of(text: str) -> str:
    """Return a snippet in one line, cut to an excerpt's length."""
    return " ".join(text.split())[:EXCERPT_CHARS].strip()


def count_words(text: str) -> int:
    """Return how many words a text has; Chinese ones by their characters."""
    characters = len(_CJK.findall(text))
    return len(_CJK.sub(" ", text).split()) + ceil(characters / _CHARS_PER_WORD)


def version_of(text: str, basis: str) -> str:
    """Return the version of a text: another one is another judgement."""
    return f"{basis}:{sha1(text.encode(), usedforsecurity=False).hexdigest()[:10]}"


def excerpt_of(content: str, target: Target) -> str:
    """Return the passages of a longer text that touch most of a target, in their own order; menus are left out."""
    blocks = [" ".join(each.split()) for each in _BLOCKS.split(content) if not _is_menu(each)]
    pieces = list(_pieces(each for each in blocks if each))
    concepts = _concepts(target)
    best = sorted(range(len(pieces)), key=lambda at: (-_coverage(pieces[at], concepts), at))
    kept: list[int] = []
    room = TEXT_CHARS
    for at in best[:EXCERPTS]:
        if len(pieces[at]) <= room:
            kept.append(at)
            room -= len(pieces[at]) + 1
    return "\n".join(pieces[at] for at in sorted(kept))


def _pieces(blocks: Iterable[str]) -> Iterator[str]:
    for each in blocks:
        for at in range(0, len(each), EXCERPT_CHARS):
            yield each[at : at + EXCERPT_CHARS].strip()


def _concepts(target: Target) -> set[str]:
    texts: Sequence[str] = (
        target.text,
        *target.keywords,
        *(each.question for each in target.topics),
    )
    return {each.lower() for text in texts for each in _CONCEPT.findall(text)}


def _coverage(piece: str, concepts: set[str]) -> int:
    lower = piece.lower()
    return sum(each in lower for each in concepts)


def _is_menu(block: str) -> bool:
    """Return whether a block navigates more than it says; tables may."""
    if block.lstrip().startswith("|"):
        return False
    links = _LINK.findall(block)
    addresses = sum(map(len, _ADDRESS.findall(block)))
    prose = count_words(_LINK.sub(" ", block))
    is_list = len(links) >= _MANY_LINKS and prose < _FEW_WORDS
    return is_list or addresses > _MOSTLY_ADDRESSES * max(1, len(block))
