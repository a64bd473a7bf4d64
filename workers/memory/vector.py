"""Vectors over the index of one scope: the exact nearest chunks by the angle between embeddings.

The vectors stand beside the chunks in the same file and transaction. A process keeps them as one matrix for as long as
the file's version stays the same; an exact search over fifty thousand takes a few milliseconds, so there is no graph
that could miss one.
"""

import sqlite3
import threading
from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray
from signal_search.contracts.research import EvidenceChunk

from workers.memory.bm25 import Scored
from workers.memory.dates import modified
from workers.memory.index_file import Header, IndexFile, KeptReader, modified_in
from workers.memory.tool import ToolFailed

Matrix = NDArray[np.float32]
_FLOAT_BYTES: Final = 4


class Embedder(Protocol):
    """Turns texts into vectors of length 1, on this machine. Texts that mean the same are near each other."""

    @property
    def model_id(self) -> str:
        """Return the model's name; vectors of two models are never compared."""
        ...

    @property
    def dimensions(self) -> int:
        """Return how many numbers a vector has."""
        ...

    def embed_query(self, query: str) -> Matrix:
        """Return one vector."""
        ...

    def embed_passages(self, passages: Sequence[str]) -> Matrix:
        """Return a vector for each passage, as rows."""
        ...


class Vectors:
    """Asks one index; may be used by several threads."""

    def __init__(self, file: IndexFile, embedder: Embedder) -> None:
        """Ask `file` with what `embedder` makes of a query."""
        self._reader = KeptReader(file)
        self._embedder = embedder
        self._lock = threading.Lock()
        self._figures = (-1, -1, -1)  # of what is kept: opened, version, deletions
        self._numbers: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._matrix: Matrix = np.zeros((0, embedder.dimensions), dtype=np.float32)

    def search(self, query: str, limit: int) -> list[Scored]:
        """Return the `limit` nearest chunks: by score from 0 (opposite) to 1 (same), then source, locator and id.

        Raises:
            ToolFailed: as `IndexFile.reading`; `embedding_model_mismatch`: the vectors are another model's;
                `embedding_error`: the model made no usable vector; `vector_store_error`: a stored one is damaged.
        """
        wanted = self._embedded(query)
        with self._lock, self._reader.reading() as (db, header):
            if header.model_id != self._embedder.model_id:
                raise ToolFailed(
                    "embedding_model_mismatch" if header.model_id else "index_unavailable"
                )
            self._follow(db, header)
            cosines = self._matrix @ wanted
            return _best(db, header, self._numbers, (1.0 + cosines.astype(np.float64)) / 2.0, limit)

    def _embedded(self, query: str) -> Matrix:
        try:
            vector = self._embedder.embed_query(query)
        except (OSError, ValueError, RuntimeError, TypeError) as error:
            raise ToolFailed("embedding_error") from error
        if vector.shape != (self._embedder.dimensions,) or not np.isfinite(vector).all():
            raise ToolFailed("embedding_error")
        return vector

    def _follow(self, db: sqlite3.Connection, header: Header) -> None:
        figures = (self._reader.opened, header.version, header.deletions)
        if self._figures == figures:
            return
        if self._figures[0] != figures[0]:
            self._numbers = np.zeros(0, dtype=np.int64)
            self._matrix = np.zeros((0, self._embedder.dimensions), dtype=np.float32)
        elif self._figures[2] != header.deletions:
            left = db.execute("SELECT id FROM vectors").fetchall()
            is_left = np.isin(self._numbers, np.array(left, dtype=np.int64).reshape(-1))
            self._numbers, self._matrix = self._numbers[is_left], self._matrix[is_left]
        last = int(self._numbers[-1]) if len(self._numbers) else 0
        rows = db.execute(
            "SELECT id, vector FROM vectors WHERE id > ? ORDER BY id", (last,)
        ).fetchall()
        size = self._embedder.dimensions * _FLOAT_BYTES
        if any(len(vector) != size for _number, vector in rows):
            raise ToolFailed("vector_store_error")
        added = np.frombuffer(b"".join(row[1] for row in rows), dtype=np.float32)
        if not np.isfinite(added).all():
            raise ToolFailed("vector_store_error")
        numbers = np.array([row[0] for row in rows], dtype=np.int64)
        self._numbers = np.concatenate([self._numbers, numbers])
        self._matrix = np.vstack([self._matrix, added.reshape(-1, self._embedder.dimensions)])
        self._figures = figures


def _best(
    db: sqlite3.Connection,
    header: Header,
    numbers: NDArray[np.int64],
    scores: NDArray[np.float64],
    limit: int,
) -> list[Scored]:
    if len(scores) > limit:
        least = np.partition(scores, -limit)[-limit]
        numbers, scores = numbers[scores >= least], scores[scores >= least]
    sql = "SELECT source_ref, locator, chunk_id, content FROM chunks WHERE id = ?"
    found: list[tuple[float, str, str, str, str, str | None]] = []
    for number, score in zip(numbers, scores, strict=True):
        source, locator, chunk_id, content = db.execute(sql, (int(number),)).fetchone()
        bounded = min(max(float(score), 0.0), 1.0)
        found.append((-bounded, source, locator or "", chunk_id, content, locator))
    nearest = sorted(found)[:limit]
    dates = modified_in(db, header, (source for _score, source, *_rest in nearest))
    return [
        Scored(
            EvidenceChunk(
                chunk_id=chunk_id,
                scope=header.scope,
                content=content,
                source_ref=source,
                locator=locator,
                metadata=modified(dates.get(source, 0)),
            ),
            -score,
        )
        for score, source, _sorted, chunk_id, content, locator in nearest
    ]
