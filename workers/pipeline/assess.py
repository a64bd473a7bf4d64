"""What the evidence so far amounts to, in the terms of the stop rule. Pure; the same for every arrival order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from signal_search.contracts.document import Document
from signal_search.contracts.finding import Verdict
from signal_search.contracts.plan import Plan, SubQuestion
from signal_search.contracts.source import FetchState, SkipReason
from signal_search.contracts.trace import FetchFinished

from scoring.claims.evidence import PreparedDocument, prepare
from scoring.claims.rules import VerifyRules
from scoring.claims.verdict import verify_prepared
from scoring.copies import copy_groups, independent_sites
from scoring.passages import Passage, rank_sentences
from scoring.relevance import Variants, variants_of
from scoring.stop_rule import Arrival, Evidence, QuestionEvidence
from scoring.text import tokens
from workers.pipeline.evidence import arrived_documents, usage_of, within_constraints
from workers.pipeline.rules import Rules
from workers.pipeline.state import FetchView, JobView

# A passage that carries this share of a question's weight speaks to it; this much, in a document named after it,
# answers it. Ours, set on the documentation corpus of bench/site_corpus.py.
SPEAKS = 0.5
ANSWERS = 0.75
NAMED_AFTER = 0.5
_TOP = 3  # passages per question that can be in an answer


def assess(
    view: JobView,
    documents: Mapping[str, Document],
    rules: Rules,
    *,
    now_ms: int,
    is_last: bool = False,
) -> Evidence:
    """Return the evidence of a running job.

    While it runs, only fetches before the first open one count (see JobView.settled_fetches); `is_last` (the deadline
    has come) takes all that arrived.
    """
    plan, spec = view.require()
    fetches = list(view.fetches()) if is_last else view.settled_fetches()
    constraints = spec.request.constraints
    kept = within_constraints(arrived_documents(fetches, documents), constraints, now_ms)
    arrivals = _arrivals(view, plan, fetches, kept)
    ready = prepare(kept)
    questions = tuple(
        _question(view, each, kept, _Statements(ready, rules.verify)) for each in plan.questions
    )
    usage = usage_of(view)
    left = {
        name: limit - getattr(usage, name)
        for name, limit in plan.limits.items()
        if name in {"tokens", "fetches", "bytes"}
    }
    return Evidence(
        tier=plan.tier,
        questions=questions,
        arrivals=arrivals,
        finds=_finds(kept),
        sites=independent_sites(kept) if kept else 0,
        left={**left, **_refused_by_budget(view)},
        rounds=view.round,
        max_rounds=plan.max_rounds,
        outstanding=outstanding(view),
        unmade=sum(each.call.round > view.round for each in view.calls.values()),
        deadline_passed=is_last,
    )


def evidence_ids(
    view: JobView, documents: Mapping[str, Document], *, now_ms: int, is_last: bool
) -> tuple[str, ...]:
    """Return the ids of the documents that count now, in plan order."""
    _plan, spec = view.require()
    fetches = list(view.fetches()) if is_last else view.settled_fetches()
    kept = within_constraints(
        arrived_documents(fetches, documents), spec.request.constraints, now_ms
    )
    return tuple(each.doc_id for each in kept)


def outstanding(view: JobView) -> int:
    """Return how many calls of the opened rounds and fetches are still to come."""
    waiting = sum(each.is_open and each.started is None for each in view.active_calls())
    return waiting + len(view.open_fetches())


@lru_cache(maxsize=2048)
def passages_of(variants: Variants, document: Document) -> tuple[Passage, ...]:
    """Return a document's passages for a question, best first; remembered, since every arrival asks again."""
    return rank_sentences(variants, document)


def variants_for(question: SubQuestion) -> Variants:
    """Return the ways in which a question's words may be written."""
    return variants_of(question.text, question.terms)


def is_named_after(variants: Variants, document: Document) -> bool:
    """Return whether a document's title carries half of the question's words or more."""
    title = set(tokens(document.title))
    shares = [sum(word in title for word in words) / len(words) for words in variants if words]
    return max(shares, default=0.0) >= NAMED_AFTER


def _arrivals(
    view: JobView, plan: Plan, fetches: Sequence[FetchView], kept: Sequence[Document]
) -> tuple[Arrival, ...]:
    """Return what each reply, in plan order, added to the best passages of the sub-questions."""
    by_id = {each.doc_id: each for each in kept}
    best: dict[str, list[float]] = {each.id: [] for each in plan.questions}
    arrivals = []
    rounds = {call_id: call.call.round for call_id, call in view.calls.items()}
    for fetch in fetches:
        if fetch.finished is None or _only_leads_on(fetch.finished):
            continue
        own = [by_id[each] for each in fetch.finished.documents if each in by_id]
        new = sum(_improves(best, question, own) for question in plan.questions)
        failed = fetch.finished.state != FetchState.FETCHED
        arrivals.append(Arrival(new=new, round=rounds[fetch.call_id], failed=failed))
    refused = [each for each in view.active_calls() if each.refused is not None]
    arrivals += [Arrival(new=0, round=each.call.round, failed=True) for each in refused]
    return tuple(arrivals)


def _only_leads_on(end: FetchFinished) -> bool:
    """Return whether a reply was a step on the way: a redirect, or a result list whose items are fetched next."""
    return end.state == FetchState.REDIRECTED or bool(end.requests and not end.documents)


def _improves(
    best: dict[str, list[float]], question: SubQuestion, documents: Sequence[Document]
) -> bool:
    """Return whether documents bring a passage into the question's best few, and remember it."""
    known = best[question.id]
    variants = variants_for(question)
    found = [each.share for document in documents for each in passages_of(variants, document)[:1]]
    merged = sorted([*known, *(each for each in found if each >= SPEAKS)], reverse=True)[:_TOP]
    changed = merged != known
    best[question.id] = merged
    return changed


@dataclass(frozen=True)
class _Statements:
    """The documents made ready for verification, and its thresholds."""

    ready: Sequence[PreparedDocument]
    rules: VerifyRules

    def sites_stating(self, passage: Passage) -> int:
        """Return how many independent sites state a passage; 0 when one contradicts it."""
        span = passage.span
        claim = verify_prepared(span.quote, self.ready, own_doc_ids={span.doc_id}, rules=self.rules)
        return 1 + claim.independent if claim.verdict is Verdict.TRUE else 0


def _question(
    view: JobView, question: SubQuestion, kept: Sequence[Document], statements: _Statements
) -> QuestionEvidence:
    variants = variants_for(question)
    found = [(passages_of(variants, each), each) for each in kept]
    speaking = [(best[0], each) for best, each in found if best and best[0].share >= SPEAKS]
    answering = [
        passage
        for passage, each in speaking
        if passage.share >= ANSWERS and is_named_after(variants, each)
    ]
    best = max(answering, key=lambda each: (each.share, each.span.url), default=None)
    return QuestionEvidence(
        question_id=question.id,
        sites=independent_sites([each for _passage, each in speaking]) if speaking else 0,
        agreeing=statements.sites_stating(best) if best is not None else 0,
        pending=_pending(view, question.id),
        is_contrary=question.role == "contrary",
    )


def _pending(view: JobView, question_id: str) -> int:
    return sum(
        each.is_open
        for each in view.active_calls()
        if each.call.shared or each.call.question_id == question_id
    )


def _finds(documents: Sequence[Document]) -> tuple[int, ...]:
    """Return for each distinct work on how many sites and sources it was met."""
    met: dict[int, set[tuple[str, str]]] = {}
    for group, document in zip(copy_groups(documents), documents, strict=True):
        met.setdefault(group, set()).add((document.site, document.source_id))
    return tuple(len(each) for each in met.values())


def _refused_by_budget(view: JobView) -> dict[str, int]:
    """Return a purse that is empty when a call or fetch was refused for lack of money and none is on its way."""
    if outstanding(view):
        return {}  # what they do not use comes back
    refused = [each.refused.reason for each in view.calls.values() if each.refused is not None]
    refused += [each.finished.reason for each in view.fetches() if each.finished is not None]
    return {"refused": 0} if SkipReason.BUDGET in refused else {}
