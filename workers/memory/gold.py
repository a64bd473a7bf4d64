"""Gold files: what is relevant to a case, in its scope, checked strictly and measured.

A file either lists the candidates of each case, as they were returned somewhere, or has documents and queries: then the
product itself indexes the documents, each in its own scope, and is asked.
"""

import statistics
import tempfile
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs
from signal_search.errors import Invalid

from infra.clock import Clock
from workers.memory.evaluation import index_documents
from workers.memory.index_file import IndexFile
from workers.memory.metrics import evaluate_ranking, leaks, ndcg
from workers.memory.recall import Bm25Tool
from workers.memory.router import Router
from workers.memory.scope import PARTS, make_scope

_K = 10


class _Case(Struct):
    case_id: str
    scope: dict[str, str]
    relevant_ids: list[str]
    candidate_ids: list[str] = []
    candidate_scopes: list[dict[str, str]] | None = None
    query: str = ""


class _Document(Struct, forbid_unknown_fields=True):
    id: str
    scope: dict[str, str]
    content: str


class _File(Struct, forbid_unknown_fields=True):
    cases: list[_Case]
    documents: list[_Document] | None = None


class GoldFigures(Struct, frozen=True, kw_only=True):
    """Means over the cases with an answer; `without_answer` counts the others, which are in no mean."""

    cases: int
    without_answer: int
    k: int
    recall_at_k: float
    mrr: float
    ndcg_at_10: float
    scope_leak_count: int


def evaluate_gold(body: bytes, k: int, clock: Clock) -> GoldFigures:
    """Return the figures of a gold file; leaks are counted from the candidates' own scopes where they are known.

    Raises:
        Invalid: the file is not of this form.
    """
    try:
        file = msgspec.json.decode(body, type=_File)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise Invalid("The file is no gold file.", field="file") from error
    if len({each.case_id for each in file.cases}) != len(file.cases):
        raise Invalid("Two cases have one id.", field="case_id")
    cases = file.cases if file.documents is None else _asked(file.cases, file.documents, clock)
    rows = [_figures(each, k) for each in cases]
    answered = [row for row, each in zip(rows, cases, strict=True) if each.relevant_ids]
    means = [statistics.fmean(column) for column in list(zip(*answered, strict=True))[:3]] or [
        0.0
    ] * 3
    return GoldFigures(
        cases=len(cases),
        without_answer=len(cases) - len(answered),
        k=k,
        recall_at_k=round(means[0], 4),
        mrr=round(means[1], 4),
        ndcg_at_10=round(means[2], 4),
        scope_leak_count=sum(row[3] for row in rows),
    )


def _asked(cases: list[_Case], documents: list[_Document], clock: Clock) -> list[_Case]:
    """Return the cases with what the product returned for their queries."""
    known = {each.id for each in documents}
    if any(not each.query.strip() or not set(each.relevant_ids) <= known for each in cases):
        raise Invalid(
            "A case needs a query, and what is relevant must be a document.", field="cases"
        )
    with tempfile.TemporaryDirectory(prefix="signal-search-") as name:
        folder = Path(name)
        for scope in {make_scope(each.scope) for each in documents}:
            texts = {each.id: each.content for each in documents if make_scope(each.scope) == scope}
            index_documents(IndexFile(folder, scope), texts, clock, None)
        router = Router([Bm25Tool(folder)], clock)
        return [_with_answer(each, router) for each in cases]


def _with_answer(case: _Case, router: Router) -> _Case:
    found = router.retrieve(case.query, make_scope(case.scope)).evidence
    changed: _Case = structs.replace(
        case,
        candidate_ids=[each.chunk_id for each in found],
        candidate_scopes=[structs.asdict(each.scope) for each in found],
    )
    return changed


def _figures(case: _Case, k: int) -> tuple[float, float, float, int]:
    _check(case)
    scope = make_scope(case.scope)
    named: list[Any] = case.candidate_scopes or [case.scope] * len(case.candidate_ids)
    if len(named) != len(case.candidate_ids):
        raise Invalid("Every candidate needs its scope.", field="candidate_scopes")
    scopes = [make_scope(each) for each in named]
    flags = [each == scope for each in scopes]
    found = evaluate_ranking(case.candidate_ids, flags, case.relevant_ids, k)
    gain = ndcg(case.candidate_ids, dict.fromkeys(case.relevant_ids, 1), _K)
    return found.recall_at_k, found.mrr, gain, leaks(scopes, scope)


def _check(case: _Case) -> None:
    if not case.case_id.strip() or set(case.scope) != set(PARTS):
        raise Invalid("A case needs an id and a scope of five names.", field="scope")
    if case.query:
        return
    if not case.candidate_ids or any(not each.strip() for each in case.candidate_ids):
        raise Invalid("A case needs candidates with ids.", field="candidate_ids")
    if not set(case.relevant_ids) <= set(case.candidate_ids):
        raise Invalid("What is relevant must be among the candidates.", field="relevant_ids")
