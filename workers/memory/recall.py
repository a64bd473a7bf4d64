"""The channels over the files of one deployment: published memories, the lexical index, the vectors."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeVar

from msgspec import structs
from signal_search.contracts.research import EvidenceChunk, ResearchMemory, ScopeKey
from signal_search.errors import StoreFailed

from infra.clock import Clock
from workers.memory.bm25 import Bm25, Scored
from workers.memory.dates import UPDATED
from workers.memory.index_file import VERSION, IndexFile
from workers.memory.policy import confidence, is_usable, without_conflicts
from workers.memory.store import MemoryStore, stamp
from workers.memory.store_file import StoreFile
from workers.memory.tool import BM25, MEMORY, VECTOR, Retrieved, ToolFailed
from workers.memory.vector import Embedder, Vectors
from workers.memory.words import Analyser, terms

_KEPT: Final = 32  # scopes whose index stays in memory
_Index = TypeVar("_Index")


class _Local:
    """What all channels here are: on this machine, changing nothing."""

    provider = "local"
    read_only = True


class MemoryTool(_Local):
    """Published memories that have a word of the query: more of the query in the title first."""

    name = MEMORY

    def __init__(self, folder: Path, clock: Clock) -> None:
        """Look in the stores of `folder`."""
        self._folder = folder
        self._clock = clock

    def index_updated_at(self, scope: ScopeKey) -> datetime | None:
        """Return now: the store is the source itself, whatever the age of its memories; None when it cannot be read."""
        try:
            with StoreFile(self._folder, scope).reading():
                return _now(self._clock)
        except StoreFailed:
            return None

    def retrieve(self, query: str, scope: ScopeKey) -> Retrieved:
        """Return the memories that may be used, one of each group that disagrees.

        Raises:
            ToolFailed: `index_unavailable`: the store cannot be read.
        """
        try:
            found = MemoryStore(StoreFile(self._folder, scope), self._clock).find_published(query)
        except StoreFailed as error:
            raise ToolFailed("index_unavailable") from error
        usable = without_conflicts([each for each in found if is_usable(each, scope)])
        wanted, now = set(terms(query)), _now(self._clock)
        ordered = sorted(
            usable, key=lambda each: _memory_order(each, wanted, confidence(each, scope, now))
        )
        return Retrieved(
            tuple(_memory_chunk(each, confidence(each, scope, now)) for each in ordered)
        )


def _memory_order(
    memory: ResearchMemory, wanted: set[str], trust: float
) -> tuple[int, int, float, str]:
    title, content = (len(wanted & set(terms(text))) for text in (memory.title, memory.content))
    return (-title, -content, -trust, memory.memory_id)


def _memory_chunk(memory: ResearchMemory, trust: float) -> EvidenceChunk:
    locator = memory.applicability.get("locator")
    return EvidenceChunk(
        chunk_id=f"research:{memory.memory_id}",
        scope=memory.scope,
        content=f"{memory.title}\n\n{memory.content}",
        source_ref=f"research_memory:{memory.memory_id}",
        locator=locator if isinstance(locator, str) and locator.strip() else None,
        metadata={
            "retriever": "research_memory",
            "memory_id": memory.memory_id,
            "kind": memory.kind.value,
            "confidence": trust,
            "source_refs": list(memory.source_refs),
            "applicability": dict(memory.applicability),
            UPDATED: stamp(memory.updated_at),
        },
    )


class _Indexed(_Local):
    """A channel over the index of each scope."""

    def __init__(self, folder: Path, *, analyser: Analyser, limit: int) -> None:
        self._folder = folder
        self._analyser: Analyser = analyser
        self._limit = limit

    def file(self, scope: ScopeKey) -> IndexFile:
        """Return the index of a scope."""
        return IndexFile(self._folder, scope, analyser=self._analyser)

    def index_updated_at(self, scope: ScopeKey) -> datetime | None:
        """Return when this scope's index was last compared with its sources.

        Raises:
            ToolFailed: `index_unavailable`, `index_invalid`.
        """
        built_ms = self.file(scope).header().built_at_ms
        return datetime.fromtimestamp(built_ms / 1000, UTC) if built_ms else None


class Bm25Tool(_Indexed):
    """Chunks by their words."""

    name = BM25

    def __init__(self, folder: Path, *, analyser: Analyser = "words-2", limit: int = 100) -> None:
        """Look in the indexes of `folder`; at most `limit` chunks each time."""
        super().__init__(folder, analyser=analyser, limit=limit)
        self._open: dict[ScopeKey, Bm25] = {}

    def retrieve(self, query: str, scope: ScopeKey) -> Retrieved:
        """Return the best chunks; raises as `Bm25.search`."""
        index = self._open.get(scope) or Bm25(self.file(scope))
        _keep(self._open, scope, index)
        return Retrieved(_marked(index.search(query, self._limit), "bm25_score", "bm25"))


class VectorTool(_Indexed):
    """Chunks by their meaning."""

    name = VECTOR

    def __init__(
        self, folder: Path, embedder: Embedder, *, analyser: Analyser = "words-2", limit: int = 100
    ) -> None:
        """Look in the indexes of `folder` with what `embedder` makes of a query."""
        super().__init__(folder, analyser=analyser, limit=limit)
        self._embedder = embedder
        self._open: dict[ScopeKey, Vectors] = {}

    def retrieve(self, query: str, scope: ScopeKey) -> Retrieved:
        """Return the nearest chunks; raises as `Vectors.search`."""
        index = self._open.get(scope) or Vectors(self.file(scope), self._embedder)
        _keep(self._open, scope, index)
        found = _marked(index.search(query, self._limit), "vector_score", "vector")
        model = {"embedding_model_id": self._embedder.model_id}
        return Retrieved(
            tuple(
                structs.replace(
                    each,
                    vector_score=each.metadata["vector_score"],
                    metadata={**each.metadata, **model},
                )
                for each in found
            )
        )


def _keep(kept: dict[ScopeKey, _Index], scope: ScopeKey, index: _Index) -> None:
    kept.pop(scope, None)
    kept[scope] = index
    while len(kept) > _KEPT:
        kept.pop(next(iter(kept)), None)


def _marked(found: Sequence[Scored], name: str, retriever: str) -> tuple[EvidenceChunk, ...]:
    return tuple(
        structs.replace(
            each.chunk,
            metadata={
                **each.chunk.metadata,
                "retriever": retriever,
                name: each.score,
                "index_version": VERSION,
            },
        )
        for each in found
    )


def _now(clock: Clock) -> datetime:
    return datetime.fromtimestamp(clock.now_ms() / 1000, UTC)
