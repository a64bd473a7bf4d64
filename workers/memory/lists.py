"""Lists of a scope's records, by pages, the newest first. A cursor says where the last page ended, and nothing else."""

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from msgspec import structs
from signal_search.contracts.memory import (
    ApprovalPage,
    ListApprovals,
    Listing,
    ListMemories,
    ListVerifications,
    MemoryLine,
    MemoryPage,
    VerificationPage,
)
from signal_search.contracts.research import ApprovalStatus
from signal_search.errors import Invalid

from workers.memory.approvals import COLUMNS as PACKAGE
from workers.memory.approvals import Approvals
from workers.memory.receipts import COLUMNS as RUN
from workers.memory.receipts import Receipts
from workers.memory.store import MemoryStore, read_memory, stamp

T = TypeVar("T")

_CURSOR: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)~([^\x00-\x1f\x7f]{1,200})")


class _Query(NamedTuple):
    """Which rows of which table: columns to read, by which of them they are ordered, what must be equal."""

    table: str
    columns: str
    at: str
    id: str
    equal: Mapping[str, str]


class _Found(NamedTuple):
    rows: Sequence[Sequence[Any]]
    next_cursor: str | None


def list_memories(store: MemoryStore, wanted: ListMemories) -> MemoryPage:
    """Return a page of memories without their texts, which changed last first.

    Raises:
        Invalid: `cursor` is none.
    """
    equal = {"status": wanted.status or "", "json ->> 'kind'": wanted.kind or ""}
    query = _Query("research_memories", "json", "updated_at", "memory_id", equal)
    with store.file.reading() as db:
        found = _page(db, query, wanted)
    lines = tuple(_line(str(row[0])) for row in found.rows)
    return MemoryPage(memories=lines, next_cursor=found.next_cursor)


def list_approvals(store: MemoryStore, wanted: ListApprovals) -> ApprovalPage:
    """Return a page of packages, the newest first; those that waited too long are expired by now. Raises likewise."""
    approvals = Approvals(store)
    equal = {"status": wanted.status or "", "case_memory_id": wanted.case_memory_id}
    query = _Query("approval_packages", PACKAGE, "created_at", "package_id", equal)
    with store.file.reading() as db:
        overdue = [] if db is None else _overdue(db, stamp(store.now()))
    for package_id in overdue:
        approvals.get(package_id)
    with store.file.reading() as db:
        found = _page(db, query, wanted)
    packages = tuple(approvals.read(row) for row in found.rows)
    return ApprovalPage(approvals=packages, next_cursor=found.next_cursor)


def list_verifications(store: MemoryStore, wanted: ListVerifications) -> VerificationPage:
    """Return a page of verification runs, the newest first. Raises likewise."""
    receipts = Receipts(store)
    equal = {"case_memory_id": wanted.case_memory_id}
    query = _Query("verification_runs", RUN, "created_at", "run_id", equal)
    with store.file.reading() as db:
        found = _page(db, query, wanted)
    runs = tuple(receipts.read(row) for row in found.rows)
    return VerificationPage(verifications=runs, next_cursor=found.next_cursor)


def _line(text: str) -> MemoryLine:
    memory = read_memory(text)
    return MemoryLine(**{name: getattr(memory, name) for name in _names(MemoryLine)})


def _names(of: Callable[..., T]) -> Sequence[str]:
    return [each.name for each in structs.fields(of)]  # type: ignore[arg-type]


def _overdue(db: sqlite3.Connection, now: str) -> list[str]:
    sql = "SELECT package_id FROM approval_packages WHERE status = ? AND expires_at <= ?"
    return [row[0] for row in db.execute(sql, (ApprovalStatus.PENDING.value, now))]


def _page(db: sqlite3.Connection | None, query: _Query, wanted: Listing) -> _Found:
    after = _position(wanted.cursor)
    if db is None:
        return _Found((), None)
    equal = {name: str(value) for name, value in query.equal.items() if value}
    wheres = [f"{name} = ?" for name in equal]
    given = [*equal.values()]
    if after is not None:
        wheres.append(f"({query.at} < ? OR ({query.at} = ? AND {query.id} > ?))")
        given += [after[0], *after]
    where = f" WHERE {' AND '.join(wheres)}" if wheres else ""
    sql = (
        f"SELECT {query.at}, {query.id}, {query.columns} FROM {query.table}{where}"  # noqa: S608  names of ours
        f" ORDER BY {query.at} DESC, {query.id} LIMIT ?"
    )
    rows = db.execute(sql, (*given, wanted.limit + 1)).fetchall()
    shown = rows[: wanted.limit]
    is_last = len(rows) <= wanted.limit
    return _Found([row[2:] for row in shown], None if is_last else f"{shown[-1][0]}~{shown[-1][1]}")


def _position(cursor: str) -> tuple[str, str] | None:
    if not cursor:
        return None
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise Invalid("This is not a cursor.", field="cursor")
    return found[1], found[2]
