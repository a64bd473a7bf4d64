"""Measuring retrieval: a test collection through the same index, channels and router that answer questions.

Times are of this machine at this moment; the figures to compare are the scores, which depend on nothing else.
"""

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from signal_search.contracts.research import RouterResult, ScopeKey

from infra.clock import Clock
from workers.memory.collection import Collection
from workers.memory.index_file import IndexFile
from workers.memory.metrics import evaluate_ranking, leaks, ndcg
from workers.memory.postings import Passage, add, changed, content_digest, remove
from workers.memory.recall import Bm25Tool, VectorTool
from workers.memory.reranking import RuleReranker
from workers.memory.router import Router, RouterRules
from workers.memory.tool import BM25, VECTOR, Tool, ToolFailed
from workers.memory.vector import Embedder
from workers.memory.words import terms

SCOPE: Final = ScopeKey(
    team_id="evaluation",
    project_id="evaluation",
    repository="evaluation",
    branch="evaluation",
    experiment_environment="evaluation",
)
_K, _DEEP = 10, 100
_TIMES: Final = 5
_BATCH: Final = 512
_MARKER: Final = "zyzzyva"  # a word that no collection has


class Figures(Struct, frozen=True, kw_only=True):
    """Means over the questions that have an answer. query_ms_p50: of one question, this machine, this moment."""

    n: int
    ndcg_at_10: float
    mrr_at_10: float
    recall_at_10: float
    recall_at_100: float
    scope_leak_count: int
    query_ms_p50: float


class RetrievalReport(Struct, frozen=True, kw_only=True):
    """What a collection came to, channel by channel. questions_without_answer are in no mean.

    added_visible_ms: from the start of adding one document to the end of the first question that found it; median of 5.
    """

    documents: int
    questions: int
    questions_without_answer: int
    build_s: float
    index_bytes: int
    added_visible_ms: float
    channels: dict[str, Figures]


def evaluate_retrieval(
    collection: Collection,
    folder: Path,
    clock: Clock,
    embedder: Embedder | None = None,
    *,
    depth: int = _DEEP,
) -> RetrievalReport:
    """Index a collection in `folder`, where what is there already is used again, and ask all of its questions.

    Channels: `bm25`, `reranked` (the same in the rules' last order); with an embedder also `vector`, `hybrid` (both
    fused, `depth` candidates of each) and `hybrid_reranked`.
    """
    began = clock.monotonic()
    file = IndexFile(folder, SCOPE)
    index_documents(file, collection.documents, clock, embedder)
    build_s = clock.monotonic() - began
    answered = [name for name in collection.questions if _has_answer(collection, name)]
    channels = {
        name: _ask_all(collection, answered, router, clock)
        for name, router in _routers(folder, clock, embedder, depth).items()
    }
    return RetrievalReport(
        documents=len(collection.documents),
        questions=len(collection.questions),
        questions_without_answer=len(collection.questions) - len(answered),
        build_s=round(build_s, 2),
        index_bytes=file.path.stat().st_size,
        added_visible_ms=round(added_visible_ms(file, folder, clock), 2),
        channels=channels,
    )


def _has_answer(collection: Collection, question: str) -> bool:
    return any(grade > 0 for grade in collection.grades.get(question, {}).values())


def _routers(
    folder: Path, clock: Clock, embedder: Embedder | None, depth: int
) -> dict[str, Router]:
    rules = RouterRules(depth=_DEEP)
    words: Tool = Bm25Tool(folder, limit=_DEEP)
    found = {
        BM25: Router([words], clock, rules=rules),
        "reranked": Router([words], clock, rules=rules, reranker=RuleReranker(split=terms)),
    }
    if embedder is not None:
        meaning: Tool = VectorTool(folder, embedder, limit=_DEEP)
        found[VECTOR] = Router([meaning], clock, rules=rules)
        both: list[Tool] = [
            Bm25Tool(folder, limit=depth),
            VectorTool(folder, embedder, limit=depth),
        ]
        found["hybrid"] = Router(both, clock, rules=rules)
        found["hybrid_reranked"] = Router(
            both, clock, rules=rules, reranker=RuleReranker(split=terms)
        )
    return found


def index_documents(
    file: IndexFile, documents: dict[str, str], clock: Clock, embedder: Embedder | None
) -> None:
    """Add the documents that the index lacks, in batches, so that an interrupted run goes on where it was."""
    known = _known(file)
    wanted = [name for name, text in documents.items() if known.get(name) != content_digest(text)]
    for at in range(0, len(wanted), _BATCH):
        names = wanted[at : at + _BATCH]
        rows = embedder.embed_passages([documents[name] for name in names]) if embedder else None
        passages = [
            Passage(
                chunk_id=name,
                source_ref=name,
                content=documents[name],
                vector=b"" if rows is None else rows[number].astype("<f4").tobytes(),
            )
            for number, name in enumerate(names)
        ]
        _write(file, passages, clock, embedder)
    _write(file, (), clock, embedder)


def _known(file: IndexFile) -> dict[str, bytes]:
    try:
        with file.reading() as (db, _header):
            return dict(db.execute("SELECT chunk_id, digest FROM chunks").fetchall())
    except ToolFailed:
        return {}


def _write(
    file: IndexFile, passages: Sequence[Passage], clock: Clock, embedder: Embedder | None
) -> None:
    with file.writing() as (db, header):
        grown = add(db, header, passages)
        model = embedder.model_id if embedder else ""
        changed(db, grown, built_at_ms=clock.now_ms(), model_id=model)


def _ask_all(
    collection: Collection, answered: Sequence[str], router: Router, clock: Clock
) -> Figures:
    rows: list[tuple[float, float, float, float]] = []
    spent: list[float] = []
    leaked = 0
    for name in answered:
        began = clock.monotonic()
        found = router.retrieve(collection.questions[name], SCOPE)
        spent.append((clock.monotonic() - began) * 1000)
        rows.append(_scores(found, collection.grades[name]))
        leaked += leaks([each.scope for each in found.evidence], SCOPE)
    means = [round(statistics.fmean(each), 4) for each in zip(*rows, strict=True)] or [0.0] * 4
    return Figures(
        n=len(rows),
        ndcg_at_10=means[0],
        mrr_at_10=means[1],
        recall_at_10=means[2],
        recall_at_100=means[3],
        scope_leak_count=leaked,
        query_ms_p50=round(statistics.median(spent), 3) if spent else 0.0,
    )


def _scores(found: RouterResult, grades: dict[str, int]) -> tuple[float, float, float, float]:
    returned = [each.chunk_id for each in found.evidence]
    flags = [each.scope == SCOPE for each in found.evidence]
    relevant = [name for name, grade in grades.items() if grade > 0]
    near = evaluate_ranking(returned[:_K], flags[:_K], relevant, _K)
    deep = evaluate_ranking(returned, flags, relevant, _DEEP)
    return ndcg(returned, grades, _K), near.mrr, near.recall_at_k, deep.recall_at_k


def added_visible_ms(file: IndexFile, folder: Path, clock: Clock) -> float:
    """Return how long one more document took to be found, by a process that had the index open: the median of five."""
    tool = Bm25Tool(folder, limit=_K)
    tool.retrieve(_MARKER, SCOPE)
    return statistics.median(_added_visible_ms(file, tool, clock) for _ in range(_TIMES))


def _added_visible_ms(file: IndexFile, tool: Bm25Tool, clock: Clock) -> float:
    passage = Passage(chunk_id=_MARKER, source_ref=_MARKER, content=f"{_MARKER} was added just now")
    began = clock.monotonic()
    with file.writing() as (db, header):
        add(db, header, [passage])
    found = tool.retrieve(_MARKER, SCOPE).chunks
    spent_ms = (clock.monotonic() - began) * 1000
    with file.writing() as (db, header):
        remove(db, header, [_MARKER])
    return spent_ms if [each.chunk_id for each in found] == [_MARKER] else float("inf")
