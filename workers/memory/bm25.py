"""BM25 over the index of one scope: exact figures of the file as it is now, read in one transaction with the evidence.

A process keeps the lengths of the chunks and the postings it met, for as long as the file's version stays the same;
after an addition only the new lengths are read. The text of every candidate is compared with its digest, and in the
best twenty the words are counted again, so that damaged or forged postings yield nothing.
"""

import math
import sqlite3
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from signal_search.contracts.research import EvidenceChunk, ScopeKey

from workers.memory.dates import modified
from workers.memory.index_file import Header, IndexFile, KeptReader, modified_in
from workers.memory.postings import content_digest, unpacked
from workers.memory.tool import ToolFailed
from workers.memory.words import ANALYSERS

K1: Final = 1.5  # memory guide
B: Final = 0.75  # memory guide
_MOST_TERMS: Final = 256  # of one query
_COUNTED_AGAIN: Final = 20  # of the best: as many as an answer has
_MOST_KEPT: Final = 2_000_000  # postings kept in memory
_TERMS_AT_A_TIME: Final = 200

_COLUMNS: Final = "id, chunk_id, source_ref, locator, content, digest"

Floats = NDArray[np.float64]
_Postings = tuple[NDArray[np.uint32], NDArray[np.uint16]]


class Scored(Struct, frozen=True):
    """A chunk and its score, above 0."""

    chunk: EvidenceChunk
    score: float


class _Row(Struct, frozen=True):
    number: int
    chunk_id: str
    source_ref: str
    locator: str | None
    content: str
    digest: bytes


class _Snapshot:
    """What is kept of one version of a file."""

    def __init__(self) -> None:
        self.version = -1
        self.opened = -1
        self.last = 0
        self.lengths: Floats = np.zeros(1)
        self.postings: dict[str, _Postings] = {}
        self.kept = 0

    def follow(self, db: sqlite3.Connection, header: Header, opened: int) -> None:
        """Bring the lengths up to the file's version; those of chunks that left stay, and nothing asks for them."""
        if (self.version, self.opened) == (header.version, opened):
            return
        if self.opened != opened:
            self.last, self.lengths = 0, np.zeros(1)
        rows = db.execute("SELECT id, length FROM chunks WHERE id > ? ORDER BY id", (self.last,))
        found = np.array(rows.fetchall(), dtype=np.int64).reshape(-1, 2)
        if len(found):
            self.last = int(found[-1, 0])
            grown = np.zeros(self.last + 1)
            grown[: len(self.lengths)] = self.lengths
            grown[found[:, 0]] = found[:, 1]
            self.lengths = grown
        self.postings, self.kept = {}, 0
        self.version, self.opened = header.version, opened

    def read(self, db: sqlite3.Connection, terms: Sequence[str]) -> None:
        """Read the postings of terms that are not kept yet."""
        wanted = [term for term in terms if term not in self.postings]
        if self.kept > _MOST_KEPT:
            self.postings, self.kept = {}, 0
            wanted = list(terms)
        for at in range(0, len(wanted), _TERMS_AT_A_TIME):
            self._read(db, wanted[at : at + _TERMS_AT_A_TIME])

    def _read(self, db: sqlite3.Connection, terms: Sequence[str]) -> None:
        joined: dict[str, tuple[bytes, bytes]] = dict.fromkeys(terms, (b"", b""))
        marks = ", ".join("?" * len(terms))
        sql = f"SELECT term, ids, counts FROM postings WHERE term IN ({marks}) ORDER BY segment"  # noqa: S608
        for term, ids, counts in db.execute(sql, terms):
            before = joined[term]
            joined[term] = before[0] + ids, before[1] + counts
        for term, (ids, counts) in joined.items():
            numbers, times = unpacked(ids, counts)
            self.postings[term] = (
                np.frombuffer(numbers.tobytes(), dtype=np.uint32),
                np.frombuffer(times.tobytes(), dtype=np.uint16),
            )
            self.kept += len(numbers)


class Bm25:
    """Asks one index; may be used by several threads."""

    def __init__(self, file: IndexFile) -> None:
        """Ask `file`."""
        self._file = file
        self._reader = KeptReader(file)
        self._snapshot = _Snapshot()
        self._lock = threading.Lock()

    def search(self, query: str, limit: int) -> list[Scored]:
        """Return at most `limit` chunks that have a word of the query: by score, then source, locator and id.

        idf = ln(1 + (N - df + 0.5) / (df + 0.5)), k1 = 1.5, b = 0.75 (memory guide); a word of the query counts once.

        Raises:
            ToolFailed: as `IndexFile.reading`; `index_invalid` also when postings and texts differ.
        """
        terms = list(dict.fromkeys(ANALYSERS[self._file.analyser](query)))[:_MOST_TERMS]
        with self._lock, self._reader.reading() as (db, header):
            if not terms or not header.documents:
                return []
            try:
                return self._ranked(db, header, terms, limit)
            except (ValueError, LookupError, OverflowError) as error:
                raise ToolFailed("index_invalid") from error

    def _ranked(
        self, db: sqlite3.Connection, header: Header, terms: Sequence[str], limit: int
    ) -> list[Scored]:
        kept = self._snapshot
        kept.follow(db, header, self._reader.opened)
        kept.read(db, terms)
        found = {term: kept.postings[term] for term in terms if len(kept.postings[term][0])}
        weights = {term: _idf(header.documents, len(each[0])) for term, each in found.items()}
        average = header.words / header.documents
        scores = _scores(kept.lengths, found, weights, average)
        best = [(row, float(scores[row.number])) for row in _best(db, scores, limit)]
        for row, score in best[:_COUNTED_AGAIN]:
            self._count_again(row, score, weights, average)
        if any(content_digest(row.content) != row.digest for row, _score in best):
            raise ToolFailed("index_invalid")
        dates = modified_in(db, header, (row.source_ref for row, _score in best))
        return [
            Scored(_chunk(row, header.scope, dates.get(row.source_ref, 0)), score)
            for row, score in best
        ]

    def _count_again(
        self, row: _Row, score: float, weights: Mapping[str, float], average: float
    ) -> None:
        counted = Counter(ANALYSERS[self._file.analyser](row.content))
        length = sum(counted.values())
        again = sum(
            weight * _part(counted[term], length, average) for term, weight in weights.items()
        )
        if not math.isclose(again, score, rel_tol=1e-9):
            raise ToolFailed("index_invalid")


def _idf(documents: int, having: int) -> float:
    return math.log(1 + (documents - having + 0.5) / (having + 0.5))


def _part(count: int, length: int, average: float) -> float:
    return count * (K1 + 1) / (count + K1 * (1 - B + B * length / average))


def _scores(
    lengths: Floats, found: Mapping[str, _Postings], weights: Mapping[str, float], average: float
) -> Floats:
    scores = np.zeros(len(lengths))
    for term, (numbers, counts) in found.items():
        count = counts.astype(np.float64)
        length = lengths[numbers]
        part = count * (K1 + 1) / (count + K1 * (1 - B + B * length / average))
        scores[numbers] += weights[term] * part
    return scores


def _best(db: sqlite3.Connection, scores: Floats, limit: int) -> list[_Row]:
    """Return the rows of the best scores in order; all that are as good as the last one take part in the tie."""
    found = int(np.count_nonzero(scores > 0))
    if not found:
        return []
    least = float(np.partition(scores, -limit)[-limit]) if found > limit else 0.0
    chosen = np.flatnonzero(scores >= least) if least > 0 else np.flatnonzero(scores > 0)
    order: list[tuple[float, str, str, str, int]] = []
    for at in range(0, len(chosen), _TERMS_AT_A_TIME):
        part = [int(number) for number in chosen[at : at + _TERMS_AT_A_TIME]]
        marks = ", ".join("?" * len(part))
        sql = f"SELECT id, source_ref, locator, chunk_id FROM chunks WHERE id IN ({marks})"  # noqa: S608
        order += [
            (-float(scores[number]), source, locator or "", chunk_id, number)
            for number, source, locator, chunk_id in db.execute(sql, part)
        ]
    return _rows(db, [each[-1] for each in sorted(order)[:limit]])


def _rows(db: sqlite3.Connection, numbers: Sequence[int]) -> list[_Row]:
    """Return the rows with these numbers, in their order."""
    found: dict[int, _Row] = {}
    for at in range(0, len(numbers), _TERMS_AT_A_TIME):
        part = numbers[at : at + _TERMS_AT_A_TIME]
        marks = ", ".join("?" * len(part))
        sql = f"SELECT {_COLUMNS} FROM chunks WHERE id IN ({marks})"  # noqa: S608
        found |= {row[0]: _Row(*row) for row in db.execute(sql, part)}
    return [found[number] for number in numbers]


def _chunk(row: _Row, scope: ScopeKey, modified_ms: int) -> EvidenceChunk:
    return EvidenceChunk(
        chunk_id=row.chunk_id,
        scope=scope,
        content=row.content,
        source_ref=row.source_ref,
        locator=row.locator,
        metadata=modified(modified_ms),
    )
