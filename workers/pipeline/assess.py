"""What the evidence so far amounts to, in the terms of the stop rule. Pure; the same for every arrival order."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from signal_search.contracts.document import Document
from signal_search.contracts.plan import SubQuestion
from signal_search.contracts.query import MEMORY_SOURCE, Intent
from signal_search.contracts.source import FetchState, SkipReason
from signal_search.contracts.trace import FetchFinished

from scoring.copies import copy_groups, independent_sites
from scoring.stop_rule import Arrival, Evidence, QuestionEvidence
from workers.pipeline.evidence import arrived_documents, asked_on, usage_of, within_constraints
from workers.pipeline.news import News
from workers.pipeline.open_aspects import speaks_of_aspect
from workers.pipeline.reading import Reading
from workers.pipeline.rules import Rules
from workers.pipeline.state import FetchView, JobView, retrieve_request

_COUNTED = frozenset({"tokens", "fetches", "bytes"})


@dataclass(frozen=True)
class Moment:
    """When a job is looked at: the time, whether its deadline has come, and which calls have follow-ups to ask for."""

    now_ms: int
    is_last: bool = False
    busy: frozenset[str] = frozenset()


def counted_fetches(view: JobView, at: Moment) -> list[FetchView]:
    """Return the fetches that count now.

    While a job runs, those before the first open one (see JobView.settled_fetches); at its end, all that ended.
    """
    return list(view.fetches()) if at.is_last else view.settled_fetches(at.busy)


def counted_documents(
    view: JobView, documents: Mapping[str, Document], at: Moment
) -> list[Document]:
    """Return the documents that count now, in plan order, within the caller's constraints."""
    _plan, spec = view.require()
    arrived = arrived_documents(counted_fetches(view, at), documents)
    return within_constraints(arrived, retrieve_request(spec).constraints, at.now_ms)


def assess(view: JobView, documents: Mapping[str, Document], rules: Rules, at: Moment) -> Evidence:
    """Return the evidence of a running job."""
    plan, _spec = view.require()
    kept = counted_documents(view, documents, at)
    reading = Reading(kept, rules.verify, asked_on(view))
    return Evidence(
        tier=plan.tier,
        questions=tuple(_question(view, each, reading, at) for each in plan.questions),
        arrivals=_arrivals(view, counted_fetches(view, at), reading),
        finds=_finds(kept),
        sites=independent_sites(kept) if kept else 0,
        left={**_left(view), **_refused_by_budget(view)},
        rounds=view.round,
        max_rounds=plan.max_rounds,
        outstanding=outstanding(view),
        deadline_passed=at.is_last,
    )


def outstanding(view: JobView) -> int:
    """Return how many calls of the opened rounds and fetches are still to come."""
    waiting = sum(
        each.is_open and (each.started is None or each.lacks_requests)
        for each in view.active_calls()
    )
    return waiting + len(view.open_fetches())


def _left(view: JobView) -> dict[str, int]:
    plan, _spec = view.require()
    usage = usage_of(view)
    return {
        name: limit - getattr(usage, name)
        for name, limit in plan.limits.items()
        if name in _COUNTED
    }


def _arrivals(view: JobView, fetches: Sequence[FetchView], reading: Reading) -> tuple[Arrival, ...]:
    """Return what each reply, in plan order, added to the best passages of the sub-questions and to what is known."""
    plan, _spec = view.require()
    by_id = {each.doc_id: each for each in reading.documents}
    news = News(plan.questions, reading)
    known: set[str] = set()
    arrivals = []
    for fetch in fetches:
        if fetch.finished is None or _only_leads_on(fetch.finished):
            continue
        own = [by_id[each] for each in fetch.finished.documents if each in by_id]
        arrivals.append(
            Arrival(
                new=news.of(own),
                fresh=len({each.doc_id for each in own} - known),
                round=view.calls[fetch.call_id].call.round,
                failed=fetch.finished.state != FetchState.FETCHED,
            )
        )
        known |= {each.doc_id for each in own}
    refused = [each for each in view.active_calls() if each.refused is not None]
    arrivals += [Arrival(new=0, round=each.call.round, failed=True) for each in refused]
    return tuple(arrivals)


def _only_leads_on(end: FetchFinished) -> bool:
    """Return whether a reply was a step on the way: a redirect, or a result list whose items are fetched next."""
    return end.state == FetchState.REDIRECTED or bool(end.requests and not end.documents)


def _question(
    view: JobView, question: SubQuestion, reading: Reading, at: Moment
) -> QuestionEvidence:
    found = [each for _passage, each in reading.answering(question)]
    speaking = [each for each in found if speaks_of_aspect(question, each)]
    pending = _pending(view, question.id, at.busy)
    # What is at hand may be what has changed since: it seconds a page, and speaks alone when no page is to come.
    beside = MEMORY_SOURCE if pending and wants_the_new(view) else ""
    answer = reading.best_answer(question, beside=beside) if speaking else None
    return QuestionEvidence(
        question_id=question.id,
        sites=independent_sites(speaking) if speaking else 0,
        agreeing=reading.sites_stating(answer) if answer is not None else 0,
        elsewhen=len(reading.speaking(question)) - len(found),
        pending=pending,
        is_contrary=question.role == "contrary",
    )


def wants_the_new(view: JobView) -> bool:
    """Return whether a job asks for what is new: by a freshness, or by the words of its question."""
    plan, spec = view.require()
    is_dated = retrieve_request(spec).constraints.freshness is not None
    return is_dated or plan.intent is Intent.LATEST


def _pending(view: JobView, question_id: str, busy: Collection[str]) -> int:
    return sum(
        each.is_open or each.call.id in busy
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
    """Return an empty purse when a call or fetch was refused for lack of money and none is on its way."""
    if outstanding(view):
        return {}  # what they do not use comes back
    refused = [each.refused.reason for each in view.calls.values() if each.refused is not None]
    refused += [each.finished.reason for each in view.fetches() if each.finished is not None]
    return {"refused": 0} if SkipReason.BUDGET in refused else {}
