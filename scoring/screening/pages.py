"""Pages of a result set. A cursor only pages: it names a set and a place in it, and nothing is searched for it."""

import re
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from signal_search.contracts.adaptive_result import AdaptiveResult, ScreenedResult
from signal_search.errors import Invalid

PAGE_SIZE: Final = 20
MOST_BYTES: Final = 45_000
_EXTRA_BYTES = 256  # what a page has besides its rows and metadata (adaptive search guide)
_CURSOR = re.compile(
    r"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.([0-9]{1,10})", re.ASCII
)
_OVERSIZED = "one result is larger than a page and is given whole"


class ResultSet(Struct, frozen=True, kw_only=True):
    """All results of an adaptive search, and what every page of them repeats (`page`, without results)."""

    id: str
    rows: tuple[ScreenedResult, ...]
    page: AdaptiveResult


class Place(Struct, frozen=True, kw_only=True):
    """Where a cursor points."""

    set_id: str
    offset: int


def read_cursor(cursor: str) -> Place:
    """Return what a cursor names.

    Raises:
        Invalid: `invalid_input`: it is none.
    """
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise _refused()
    return Place(set_id=found[1], offset=int(found[2]))


def page_of(found: ResultSet, offset: int, size: int) -> AdaptiveResult:
    """Return a page from `offset` (0..total) of at most `size` results and about 45,000 bytes; the first always fits.

    Raises:
        Invalid: `invalid_input`: the place lies behind the end.
    """
    total = len(found.rows)
    if offset > total:
        raise _refused()
    kept, is_oversized = _fitting(found, offset, size)
    end = offset + len(kept)
    warnings = (*found.page.warnings, _OVERSIZED) if is_oversized else found.page.warnings
    return replace(
        found.page,
        results=kept,
        total_results=total,
        next_cursor=f"{found.id}.{end}" if end < total else None,
        warnings=warnings,
    )


def _fitting(found: ResultSet, offset: int, size: int) -> tuple[tuple[ScreenedResult, ...], bool]:
    room = max(0, MOST_BYTES - len(msgspec.json.encode(found.page)) - _EXTRA_BYTES)
    kept: list[ScreenedResult] = []
    for row in found.rows[offset : offset + size]:
        room -= len(msgspec.json.encode(row))
        if kept and room < 0:
            return tuple(kept), False
        kept.append(row)
        if room < 0:
            return tuple(kept), True
    return tuple(kept), False


def _refused() -> Invalid:
    text = "This cursor names no page; nothing was searched."
    return Invalid(text, code="invalid_input", field="cursor")
