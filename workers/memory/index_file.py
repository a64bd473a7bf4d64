"""The index of one scope: a SQLite file with the chunks, their postings and vectors, all written in one transaction.

One file for each scope, named by the scope's digest, so that nothing in one scope can change a rank in another: the
statistics that BM25 weighs with are those of the file. The scope inside the file decides whose it is.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, structs
from signal_search.contracts.research import ScopeKey
from signal_search.errors import Invalid

from workers.memory.scope import scope_digest
from workers.memory.tool import ToolFailed
from workers.memory.words import ANALYSERS, Analyser

SCHEMA: Final = "signal-search.index"
VERSION: Final = 3
_UNDATED: Final = 2  # a file of before: the same without the times of its sources
_BUSY_MS: Final = 5000
_REFS_AT_A_TIME: Final = 200

_TABLES: Final = """
CREATE TABLE header (only INTEGER PRIMARY KEY CHECK (only = 1), json TEXT NOT NULL) STRICT;
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY, chunk_id TEXT NOT NULL UNIQUE, segment INTEGER NOT NULL, length INTEGER NOT NULL,
    source_ref TEXT NOT NULL, locator TEXT, content TEXT NOT NULL, digest BLOB NOT NULL
) STRICT;
CREATE INDEX chunks_by_source ON chunks (source_ref);
CREATE INDEX chunks_by_segment ON chunks (segment);
CREATE TABLE segments (id INTEGER PRIMARY KEY, chunks INTEGER NOT NULL) STRICT;
CREATE TABLE postings (
    term TEXT NOT NULL, segment INTEGER NOT NULL, ids BLOB NOT NULL, counts BLOB NOT NULL,
    PRIMARY KEY (term, segment)
) STRICT, WITHOUT ROWID;
CREATE TABLE vectors (id INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE, vector BLOB NOT NULL) STRICT;
CREATE TABLE sources (source_ref TEXT PRIMARY KEY, digest BLOB NOT NULL, modified_ms INTEGER) STRICT;
"""
_DATED: Final = "ALTER TABLE sources ADD COLUMN modified_ms INTEGER"


class Header(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a file says about itself. `version` grows with every change; `deletions` with every chunk that left.

    built_at_ms: epoch milliseconds of the last comparison with the sources. words: of all chunks together. last_id: the
    highest number that a chunk ever had; none is given twice.
    """

    schema: str
    format: int
    scope: ScopeKey
    analyser: Analyser
    model_id: str = ""
    version: int = 0
    deletions: int = 0
    documents: int = 0
    words: int = 0
    last_id: int = 0
    built_at_ms: int = 0


class IndexFile:
    """Opens the index of one scope; a connection lives for one operation, so threads and processes may share a file."""

    def __init__(self, folder: Path, scope: ScopeKey, *, analyser: Analyser = "words-2") -> None:
        """Use `folder`/DIGEST.index; nothing is opened yet."""
        if analyser not in ANALYSERS:
            raise Invalid("There is no such analyser.", field="research.analyser")
        self.path = folder / f"{scope_digest(scope)}.index"
        self.scope = scope
        self.analyser: Analyser = analyser

    @contextmanager
    def reading(self) -> Iterator[tuple[sqlite3.Connection, Header]]:
        """Give a connection inside one read transaction, so that the header and all rows are of one moment.

        Raises:
            ToolFailed: `index_unavailable`: there is no file; `index_invalid`: it is not the index of this scope.
        """
        if not self.path.is_file():
            raise ToolFailed("index_unavailable")
        try:
            with closing(self.connect()) as db:
                db.execute("PRAGMA query_only = ON")
                db.execute("BEGIN")
                yield db, self.header_in(db)
        except sqlite3.Error as error:
            raise ToolFailed("index_invalid") from error

    @contextmanager
    def writing(self) -> Iterator[tuple[sqlite3.Connection, Header]]:
        """Give a connection inside one write transaction, which is kept when the block ends and undone when it fails.

        Raises:
            ToolFailed: `index_invalid`: the file is not the index of this scope.
        """
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with closing(self.connect()) as db:
                db.execute("BEGIN IMMEDIATE")
                try:
                    yield db, self._made(db)
                except BaseException:
                    db.execute("ROLLBACK")
                    raise
                db.execute("COMMIT")
        except sqlite3.Error as error:
            raise ToolFailed("index_invalid") from error

    def header(self) -> Header:
        """Return what the file says now; raises as `reading`."""
        with self.reading() as (_db, header):
            return header

    def connect(self) -> sqlite3.Connection:
        """Return a new connection, which any thread may use, one at a time."""
        db = sqlite3.connect(
            self.path, isolation_level=None, timeout=_BUSY_MS / 1000, check_same_thread=False
        )
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        return db

    def _made(self, db: sqlite3.Connection) -> Header:
        """Return the header; a new file gets its tables first, one of before what it lacks, in the transaction."""
        if not _is_empty(db):
            return self._renewed(db, self.header_in(db))
        for statement in _TABLES.split(";"):
            db.execute(statement)
        header = Header(schema=SCHEMA, format=VERSION, scope=self.scope, analyser=self.analyser)
        write_header(db, header)
        return header

    def _renewed(self, db: sqlite3.Connection, header: Header) -> Header:
        if header.format == VERSION:
            return header
        db.execute(_DATED)
        new: Header = structs.replace(header, format=VERSION)
        write_header(db, new)
        return new

    def header_in(self, db: sqlite3.Connection) -> Header:
        """Return the header inside the caller's transaction; raises as `reading`."""
        if _is_empty(db):  # its first write was undone
            raise ToolFailed("index_unavailable")
        row = db.execute("SELECT json FROM header").fetchone()
        try:
            header = msgspec.json.decode(row[0] if row else b"", type=Header)
        except msgspec.DecodeError as error:
            raise ToolFailed("index_invalid") from error
        expected = (SCHEMA, self.scope, self.analyser)
        is_ours = (header.schema, header.scope, header.analyser) == expected
        if not is_ours or header.format not in {_UNDATED, VERSION}:
            raise ToolFailed("index_invalid")
        return header


class KeptReader:
    """Reads one index again and again over one connection; one reader at a time.

    To open a file for each question costs more than to answer it, and the last connection that closes makes the store
    tidy up. A file that was replaced is opened anew.
    """

    def __init__(self, file: IndexFile) -> None:
        """Read `file`; nothing is opened yet."""
        self._file = file
        self._db: sqlite3.Connection | None = None
        self._inode = (0, 0)
        self.opened = 0  # times: what was kept of the file before is worth nothing after another

    def __del__(self) -> None:
        """Close what is open."""
        self.close()

    def close(self) -> None:
        """Close what is open; the next reading opens it again."""
        if self._db is not None:
            self._db.close()
            self._db = None

    @contextmanager
    def reading(self) -> Iterator[tuple[sqlite3.Connection, Header]]:
        """Give the connection inside one read transaction; raises as `IndexFile.reading`."""
        try:
            db = self._opened()
            db.execute("BEGIN")
            try:
                yield db, self._file.header_in(db)
            finally:
                db.execute("ROLLBACK")
        except sqlite3.Error as error:
            self.close()
            raise ToolFailed("index_invalid") from error

    def _opened(self) -> sqlite3.Connection:
        try:
            found = self._file.path.stat()
        except OSError as error:
            self.close()
            raise ToolFailed("index_unavailable") from error
        inode = (found.st_dev, found.st_ino)
        if self._db is None or inode != self._inode:
            self.close()
            self._db, self._inode = self._file.connect(), inode
            self.opened += 1
            self._db.execute("PRAGMA query_only = ON")
        return self._db


def modified_in(
    db: sqlite3.Connection, header: Header, source_refs: Iterable[str]
) -> dict[str, int]:
    """Return when sources were last changed (epoch milliseconds), where that is known; inside the transaction."""
    if header.format == _UNDATED:
        return {}
    wanted = list(dict.fromkeys(source_refs))
    found: dict[str, int | None] = {}
    for at in range(0, len(wanted), _REFS_AT_A_TIME):
        part = wanted[at : at + _REFS_AT_A_TIME]
        marks = ", ".join("?" * len(part))
        sql = f"SELECT source_ref, modified_ms FROM sources WHERE source_ref IN ({marks})"  # noqa: S608
        found |= dict(db.execute(sql, part).fetchall())
    return {ref: at_ms for ref, at_ms in found.items() if at_ms is not None}


def write_header(db: sqlite3.Connection, header: Header) -> None:
    """Replace the header inside the caller's transaction."""
    text = msgspec.json.encode(header).decode()
    db.execute("INSERT OR REPLACE INTO header (only, json) VALUES (1, ?)", (text,))


def _is_empty(db: sqlite3.Connection) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None
