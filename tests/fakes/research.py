"""Scopes, memories and indexes with sensible defaults."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import structs
from signal_search.contracts.research import (
    MemoryKind,
    MemoryStatus,
    ResearchMemory,
    RouterResult,
    ScopeKey,
)

from infra.clock import FixedClock
from workers.memory.grep import Grep, GrepTool
from workers.memory.index_file import IndexFile
from workers.memory.postings import Passage, add, changed
from workers.memory.recall import Bm25Tool, MemoryTool, VectorTool
from workers.memory.reranking import RuleReranker
from workers.memory.router import Router
from workers.memory.store import MemoryStore
from workers.memory.store_file import StoreFile
from workers.memory.tool import Tool

NOW_MS = 1_790_000_000_000
NOW = datetime.fromtimestamp(NOW_MS / 1000, UTC)


def a_scope(**changes: str) -> ScopeKey:
    named = {
        "team_id": "team",
        "project_id": "project",
        "repository": "repo",
        "branch": "main",
        "experiment_environment": "test",
    }
    return ScopeKey(**{**named, **changes})


def a_memory(memory_id: str, content: str, scope: ScopeKey, **changes: Any) -> ResearchMemory:
    memory = ResearchMemory(
        memory_id=memory_id,
        scope=scope,
        kind=MemoryKind.KNOWLEDGE,
        title=f"note {memory_id}",
        content=content,
        created_at=NOW,
        updated_at=NOW,
    )
    made: ResearchMemory = structs.replace(memory, **changes)
    return made


class HashedVectors:
    """Vectors by the letters of a text: no meaning, but the same text is nearest to itself."""

    model_id = "letters"
    dimensions = 64

    def embed_query(self, query: str) -> Any:
        counts = np.zeros(self.dimensions, dtype=np.float32)
        for first, second in pairwise(query):
            counts[(ord(first) * 31 + ord(second)) % self.dimensions] += 1
        return counts / max(float(np.linalg.norm(counts)), 1e-12)

    def embed_passages(self, passages: Any) -> Any:
        return np.stack([self.embed_query(each) for each in passages])


class Shelf:
    """The files of a deployment in one folder, with all channels over them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = FixedClock(NOW_MS)
        self.embedder = HashedVectors()

    def store(self, scope: ScopeKey) -> MemoryStore:
        return MemoryStore(StoreFile(self.folder, scope), self.clock)

    def publish(self, memory: ResearchMemory) -> None:
        store = self.store(memory.scope)
        store.save(memory, actor="ann")
        store.move(memory.memory_id, MemoryStatus.VERIFIED, actor="ann")
        store.move(memory.memory_id, MemoryStatus.PUBLISHED, actor="ann")

    def index(self, scope: ScopeKey, texts: Mapping[str, str]) -> None:
        rows = self.embedder.embed_passages(list(texts.values())) if texts else []
        passages = [
            Passage(chunk_id=name, source_ref=name, content=text, vector=row.tobytes())
            for (name, text), row in zip(texts.items(), rows, strict=True)
        ]
        with IndexFile(self.folder, scope).writing() as (db, header):
            grown = add(db, header, passages)
            changed(db, grown, built_at_ms=self.clock.now_ms(), model_id=self.embedder.model_id)

    def tools(self, roots: Iterable[tuple[Path, ScopeKey]] = ()) -> list[Tool]:
        greps: list[Tool] = [GrepTool(Grep(root, scope), self.clock) for root, scope in roots]
        return [
            MemoryTool(self.folder, self.clock),
            Bm25Tool(self.folder),
            VectorTool(self.folder, self.embedder),
            *greps,
        ]

    def ask(self, query: str, scope: ScopeKey, **given: Any) -> RouterResult:
        return Router(self.tools(), self.clock, reranker=RuleReranker()).retrieve(
            query, scope, **given
        )
