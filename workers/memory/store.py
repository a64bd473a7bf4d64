"""Memories of one scope: kept, moved through their life, and found once they are published.

Every write is one transaction with its line in the audit. What may follow what is the table in the contract; nothing is
published, revived or changed around it.
"""

import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from msgspec import structs
from signal_search.contracts.memory import AuditLine
from signal_search.contracts.research import (
    TRANSITIONS,
    MemoryKind,
    MemoryStatus,
    ResearchMemory,
)
from signal_search.errors import Conflict, Invalid, NotFound

from infra.clock import Clock
from workers.memory.store_file import StoreFile
from workers.memory.words import terms

_EDITABLE: Final = frozenset({MemoryStatus.CANDIDATE, MemoryStatus.VERIFIED})
_MOST_TERMS: Final = 256


class MemoryStore:
    """The memories of one scope."""

    def __init__(self, file: StoreFile, clock: Clock) -> None:
        """Keep them in `file`."""
        self.file = file
        self.clock = clock

    def save(self, memory: ResearchMemory, *, actor: str, event_key: str = "") -> ResearchMemory:
        """Keep a new memory, or a new text of one that is not published yet, as a candidate.

        The same `event_key` again changes nothing.

        Raises:
            Invalid: it is of another scope, is blank, or `actor` is.
            Conflict: `memory_settled`: it is or was published, or is revoked.
        """
        _check_actor(actor)
        if memory.scope != self.file.scope:
            raise Invalid("The memory belongs to a different scope.", field="scope")
        _check_text("title", memory.title)
        _check_text("content", memory.content)
        now = self.now()
        with self.file.writing() as db:
            known = _find(db, memory.memory_id)
            if known is not None and event_key and has_event(db, memory.memory_id, event_key):
                return known
            if known is not None and known.status not in _EDITABLE:
                raise Conflict("The memory can no longer be changed.", code="memory_settled")
            created = known.created_at if known else now
            kept: ResearchMemory = structs.replace(
                memory, status=MemoryStatus.CANDIDATE, created_at=created, updated_at=now
            )
            _write(db, kept)
            write_audit(db, kept.memory_id, "saved", {"actor": actor}, now=now, event_key=event_key)
        return kept

    def move(
        self, memory_id: str, to: MemoryStatus, *, actor: str, reason: str = "", event_key: str = ""
    ) -> ResearchMemory:
        """Put a memory into another state and return it; the same `event_key` again changes nothing.

        A research case is published only with an approved package whose receipt says that it passed, asked for since
        the case was last changed.

        Raises:
            NotFound: `memory_not_found`. Invalid: `actor` is blank.
            Conflict: `transition_refused`: the table has no such step; `approval_missing`: a case without the approval.
        """
        _check_actor(actor)
        now = self.now()
        with self.file.writing() as db:
            memory = _find(db, memory_id)
            if memory is None:
                raise NotFound("There is no such memory.", code="memory_not_found")
            if event_key and has_event(db, memory_id, event_key):
                return memory
            _check_step(db, memory, to)
            moved: ResearchMemory = structs.replace(memory, status=to, updated_at=now)
            _write(db, moved)
            action = "revoked" if to is MemoryStatus.REVOKED else "status_changed"
            details = {
                "actor": actor,
                "from": memory.status.value,
                "to": to.value,
                "reason": reason,
            }
            write_audit(db, memory_id, action, details, now=now, event_key=event_key)
        return moved

    def get(self, memory_id: str) -> ResearchMemory:
        """Return a memory in whatever state.

        Raises:
            NotFound: `memory_not_found`.
        """
        with self.file.reading() as db:
            found = None if db is None else _find(db, memory_id)
        if found is None:
            raise NotFound("There is no such memory.", code="memory_not_found")
        return found

    def list_published(self) -> list[ResearchMemory]:
        """Return the published memories, the newest first, then by id."""
        sql = "SELECT json FROM research_memories WHERE status = ? ORDER BY updated_at DESC, memory_id"
        with self.file.reading() as db:
            rows = [] if db is None else db.execute(sql, (MemoryStatus.PUBLISHED.value,)).fetchall()
        return [read_memory(row[0]) for row in rows]

    def find_published(self, query: str) -> list[ResearchMemory]:
        """Return the published memories that have a word of the query, in the order of `list_published`."""
        wanted = list(dict.fromkeys(terms(query)))[:_MOST_TERMS]
        if not wanted:
            return []
        sql = (
            "SELECT m.json FROM published AS p JOIN research_memories AS m ON m.memory_id = p.memory_id"
            " WHERE published MATCH ? AND m.status = ? ORDER BY m.updated_at DESC, m.memory_id"
        )
        with self.file.reading() as db:
            given = (_match(wanted), MemoryStatus.PUBLISHED.value)
            rows = [] if db is None else db.execute(sql, given).fetchall()
        return [read_memory(row[0]) for row in rows]

    def audit(self, memory_id: str) -> list[AuditLine]:
        """Return what was done to a memory, the first thing first."""
        sql = (
            "SELECT memory_id, action, event_key, details, created_at FROM research_audit"
            " WHERE memory_id = ? ORDER BY audit_id"
        )
        with self.file.reading() as db:
            rows = [] if db is None else db.execute(sql, (memory_id,)).fetchall()
        return [
            AuditLine(
                memory_id=row[0],
                action=row[1],
                event_key=row[2],
                details=msgspec.json.decode(row[3], type=dict[str, Any]),
                created_at=row[4],
            )
            for row in rows
        ]

    def now(self) -> datetime:
        """Return the time."""
        return datetime.fromtimestamp(self.clock.now_ms() / 1000, UTC)


def _check_text(field: str, text: str) -> None:
    if not text.strip():
        raise Invalid("This text is blank.", field=field)


def _check_actor(actor: str) -> None:
    if not actor.strip():
        raise Invalid("Somebody must answer for this.", field="actor")


def _check_step(db: sqlite3.Connection, memory: ResearchMemory, to: MemoryStatus) -> None:
    if to not in TRANSITIONS[memory.status]:
        raise Conflict(_refused(memory.status, to), code="transition_refused")
    is_case = memory.kind is MemoryKind.RESEARCH_CASE
    if to is MemoryStatus.PUBLISHED and is_case and not _is_approved(db, memory.memory_id):
        raise Conflict("A case needs an approval and a passed receipt.", code="approval_missing")


def _refused(now: MemoryStatus, to: MemoryStatus) -> str:
    following = ", ".join(each.value for each in MemoryStatus if each in TRANSITIONS[now])
    return f"A memory that is {now.value} cannot become {to.value}, only: {following or 'nothing'}."


def _match(wanted: Sequence[str]) -> str:
    """Return a full-text expression of these words alone: quoted, so that none is an operator or a column."""
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in wanted)


def _find(db: sqlite3.Connection, memory_id: str) -> ResearchMemory | None:
    row = db.execute(
        "SELECT json FROM research_memories WHERE memory_id = ?", (memory_id,)
    ).fetchone()
    return None if row is None else read_memory(row[0])


def read_memory(text: str) -> ResearchMemory:
    """Return the memory in the column `json`."""
    return msgspec.json.decode(text, type=ResearchMemory)


def _write(db: sqlite3.Connection, memory: ResearchMemory) -> None:
    text = msgspec.json.encode(memory).decode()
    db.execute(
        "INSERT INTO research_memories VALUES (?, ?, ?, ?) ON CONFLICT (memory_id) DO UPDATE SET"
        " status = excluded.status, updated_at = excluded.updated_at, json = excluded.json",
        (memory.memory_id, memory.status.value, stamp(memory.updated_at), text),
    )
    db.execute("DELETE FROM research_memory_links WHERE memory_id = ?", (memory.memory_id,))
    related = enumerate(dict.fromkeys(memory.related_memory_ids))
    links = ((memory.memory_id, each, at) for at, each in related)
    db.executemany("INSERT INTO research_memory_links VALUES (?, ?, ?)", links)
    db.execute("DELETE FROM published WHERE memory_id = ?", (memory.memory_id,))
    if memory.status is MemoryStatus.PUBLISHED:
        texts = (" ".join(terms(memory.title)), " ".join(terms(memory.content)))
        db.execute("INSERT INTO published VALUES (?, ?, ?)", (memory.memory_id, *texts))


def stamp(when: datetime) -> str:
    """Return a time as UTC text that sorts like the times.

    Raises:
        Invalid: it has no zone.
    """
    if when.tzinfo is None:
        raise Invalid("A time needs its zone.", field="updated_at")
    return when.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def write_audit(
    db: sqlite3.Connection,
    memory_id: str,
    action: str,
    details: dict[str, Any],
    *,
    now: datetime,
    event_key: str = "",
) -> None:
    """Add a line inside the caller's transaction; a key that is there already leaves the first line."""
    count = db.execute("SELECT count(*) FROM research_audit").fetchone()[0]
    key = event_key or f"{action}:{count}"
    db.execute(
        "INSERT OR IGNORE INTO research_audit (memory_id, action, event_key, details, created_at)"
        " VALUES (?, ?, ?, ?, ?)",
        (memory_id, action, key, msgspec.json.encode(details).decode(), stamp(now)),
    )


def has_event(db: sqlite3.Connection, memory_id: str, event_key: str) -> bool:
    """Return whether a line of a memory's audit has this key, inside the caller's transaction."""
    sql = "SELECT 1 FROM research_audit WHERE memory_id = ? AND event_key = ?"
    return db.execute(sql, (memory_id, event_key)).fetchone() is not None


def _is_approved(db: sqlite3.Connection, memory_id: str) -> bool:
    """Return whether a package that was asked for since the last change of the text is approved and passed.

    What was written after the approval was asked for is not what somebody approved.
    """
    sql = (
        "SELECT 1 FROM verification_runs AS r JOIN approval_packages AS p ON p.package_id = r.package_id"
        " JOIN research_audit AS asked ON asked.memory_id = p.case_memory_id"
        " AND asked.action = 'approval_package_saved'"
        " AND json_extract(asked.details, '$.package_id') = p.package_id"
        " WHERE p.case_memory_id = ? AND p.status = 'approved' AND r.status = 'passed'"
        " AND asked.audit_id > (SELECT coalesce(max(audit_id), 0) FROM research_audit"
        " WHERE memory_id = p.case_memory_id AND action = 'saved')"
    )
    return db.execute(sql, (memory_id,)).fetchone() is not None
