"""The store of one scope's memories: a SQLite file with its tables, opened for one operation and closed.

One file for each scope, as for the index: an id that is taken in one scope tells nothing to another, and nothing in one
changes what is found in another. The scope written in the file decides whose it is.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import msgspec
from signal_search.contracts.research import ScopeKey
from signal_search.errors import StoreFailed

from workers.memory.scope import scope_digest

_BUSY_S: Final = 5.0
_TABLES: Final = """
CREATE TABLE owner (only INTEGER PRIMARY KEY CHECK (only = 1), scope TEXT NOT NULL) STRICT;
CREATE TABLE research_memories (
    memory_id TEXT PRIMARY KEY, status TEXT NOT NULL, updated_at TEXT NOT NULL, json TEXT NOT NULL
) STRICT;
CREATE INDEX memories_by_status ON research_memories (status, updated_at);
CREATE TABLE research_memory_links (
    memory_id TEXT NOT NULL REFERENCES research_memories (memory_id) ON DELETE CASCADE,
    related_memory_id TEXT NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (memory_id, related_memory_id)
) STRICT;
CREATE TABLE research_audit (
    audit_id INTEGER PRIMARY KEY AUTOINCREMENT, memory_id TEXT NOT NULL, action TEXT NOT NULL,
    event_key TEXT NOT NULL, details TEXT NOT NULL, created_at TEXT NOT NULL, UNIQUE (memory_id, event_key)
) STRICT;
CREATE TABLE approval_packages (
    package_id TEXT PRIMARY KEY, case_memory_id TEXT NOT NULL, requested_by TEXT NOT NULL, payload TEXT NOT NULL,
    payload_hash TEXT NOT NULL, risk_level TEXT NOT NULL, status TEXT NOT NULL, created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL, receipt_token TEXT NOT NULL
) STRICT;
CREATE TABLE approval_decisions (
    package_id TEXT PRIMARY KEY REFERENCES approval_packages (package_id) ON DELETE CASCADE, decision TEXT NOT NULL,
    approver_id TEXT NOT NULL, reason TEXT NOT NULL, decided_at TEXT NOT NULL
) STRICT;
CREATE TABLE verification_runs (
    run_id TEXT PRIMARY KEY, package_id TEXT NOT NULL, case_memory_id TEXT NOT NULL, payload_hash TEXT NOT NULL,
    receipt_id TEXT NOT NULL, event_key TEXT NOT NULL UNIQUE, receipt TEXT NOT NULL, status TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
CREATE VIRTUAL TABLE published USING fts5 (memory_id UNINDEXED, title, content, tokenize = "unicode61 tokenchars '_'");
"""


class StoreFile:
    """Opens the store of one scope."""

    def __init__(self, folder: Path, scope: ScopeKey) -> None:
        """Use `folder`/DIGEST.memory; nothing is opened yet."""
        self.path = folder / f"{scope_digest(scope)}.memory"
        self.scope = scope

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """Give a connection that cannot write, None when this scope has no store yet.

        Raises:
            StoreFailed: the file is no store of this scope, or cannot be read.
        """
        if not self.path.is_file():
            yield None
            return
        with self._open() as db:
            db.execute("PRAGMA query_only = ON")
            db.execute("BEGIN")
            if _is_empty(db):  # its first write was undone
                yield None
                return
            self._check(db)
            yield db

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give a connection inside one write transaction, kept when the block ends and undone when it fails.

        Raises:
            StoreFailed: the file is no store of this scope, or cannot be written.
        """
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._open() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                self._make(db)
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, isolation_level=None, timeout=_BUSY_S)) as db:
                db.execute("PRAGMA foreign_keys = ON")
                db.execute("PRAGMA journal_mode = WAL")
                yield db
        except sqlite3.Error as error:
            raise StoreFailed("The research memory cannot be used.") from error

    def _make(self, db: sqlite3.Connection) -> None:
        if _is_empty(db):
            for statement in _TABLES.split(";\n"):
                db.execute(statement)
            db.execute("INSERT INTO owner VALUES (1, ?)", (self._name(),))
        self._check(db)

    def _check(self, db: sqlite3.Connection) -> None:
        if db.execute("SELECT scope FROM owner").fetchone() != (self._name(),):
            raise StoreFailed("The research memory is not of this scope.")

    def _name(self) -> str:
        return msgspec.json.encode(self.scope).decode()


def _is_empty(db: sqlite3.Connection) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None
