"""A question that nobody asked, answered in memory before the first one comes, so that nothing is built for that one.

Planning and publishing read tables, and build patterns, tries and dictionaries of them when they are first needed: more
than a tenth of a second of a processor. A pool that forks would do that in each of its processes, during some caller's
job. Nothing here has a store, a network or the time; which tables there are, it need not know.
"""

from collections.abc import Sequence

from msgspec.structs import replace
from signal_search.contracts.document import Document
from signal_search.contracts.job import RetrieveSpec
from signal_search.contracts.plan import Plan, PlannedCall
from signal_search.contracts.query import Constraints, RetrieveRequest, Tier
from signal_search.contracts.result import Result, Stop, StopReason
from signal_search.contracts.source import FetchState, Request
from signal_search.contracts.trace import (
    CallStarted,
    FetchFinished,
    FetchQueued,
    LogEntry,
    Planned,
    Stopped,
    Submitted,
)

from infra.settings import Settings
from workers.pipeline.decide import decide
from workers.pipeline.publish import publish
from workers.pipeline.rules import Rules, snapshot, to_log
from workers.pipeline.state import fold
from workers.planning.planner import make_plan
from workers.registry import Registry

_SOURCE = "rehearsal"
_LATER_MS = 60_000
_STOP = Stop(
    reason=StopReason.AGREEMENT, text="", exhausted=False, coverage=1.0, saturation=1.0, rounds=1
)

# A question of each language, and what two sites say; they agree, so that claims are weighed and checked.
_PLAYS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "How high is Mount Ansel?",
        (
            "Mount Ansel is 2,114 metres high. It was first climbed in 1903 by a party of four.",
            "The hut opens in June. Mount Ansel is 2,114 metres high.",
        ),
    ),
    (
        "安塞尔山的海拔是多少？",
        (
            "安塞尔山的海拔是2114米。1903年首次有人登顶。",
            "山屋六月开放。安塞尔山的海拔是2114米，是这一带的最高峰。",
        ),
    ),
)


def rehearse(settings: Settings) -> tuple[Result, ...]:
    """Plan, decide and publish a made-up job of each language; return what came out of it.

    Raises:
        Invalid: what is said of sources in the settings is wrong.
    """
    registry, rules = Registry(settings), snapshot(settings)
    return tuple(_play(settings, registry, rules, *each) for each in _PLAYS)


def _play(
    settings: Settings, registry: Registry, rules: Rules, question: str, texts: Sequence[str]
) -> Result:
    deepest = Constraints(required_tier=Tier.L3)  # what the others do, it does too
    request = RetrieveRequest(query=question, constraints=deepest)
    plan = make_plan(
        request,
        sources=registry.views(),
        tiers=settings.tiers,
        shared=registry.is_shared,
        clarify_below=settings.planning.clarify_below,
    )
    call = PlannedCall(id=f"all.{_SOURCE}", source_id=_SOURCE, question_id=plan.questions[0].id)
    plan = replace(plan, calls=(call,), deadline_ms=_LATER_MS)
    made = (_document(text, number, plan.language) for number, text in enumerate(texts, 1))
    documents = {each.doc_id: each for each in made}
    log = [*_beginning(request, plan, rules), *_replies(call, tuple(documents))]
    decide(fold(log), documents, rules, now_ms=1)
    stopped = Stopped(at_ms=1, key="stopped", stop=_STOP, evidence=tuple(documents))
    return publish(fold([*log, stopped]), documents, rules)


def _document(text: str, number: int, language: str) -> Document:
    site = f"site{number}.example"
    return Document(
        doc_id=f"{language}{number}",
        url=f"https://{site}/",
        title="",
        text=text,
        source_id=_SOURCE,
        site=site,
        fetched_at_ms=0,
        language=language,
    )


def _beginning(request: RetrieveRequest, plan: Plan, rules: Rules) -> tuple[LogEntry, ...]:
    job = RetrieveSpec(
        id=_SOURCE,
        tenant=_SOURCE,
        created_at_ms=0,
        deadline_ms=_LATER_MS,
        result_ttl_s=0,
        request=request,
    )
    return (
        Submitted(at_ms=0, key="submitted", job=job),
        Planned(at_ms=0, key="planned", plan=plan, rules=to_log(rules)),
    )


def _replies(call: PlannedCall, documents: Sequence[str]) -> tuple[LogEntry, ...]:
    ids = [f"{call.id}#{number}" for number, _ in enumerate(documents, 1)]
    started = CallStarted(
        at_ms=0, key="started", call_id=call.id, source_id=_SOURCE, fetches=tuple(ids)
    )
    return (
        started,
        *(
            entry
            for fetch_id, document in zip(ids, documents, strict=True)
            for entry in _reply(call.id, fetch_id, document)
        ),
    )


def _reply(call_id: str, fetch_id: str, document: str) -> tuple[LogEntry, ...]:
    url = f"https://site{fetch_id.rsplit('#', 1)[1]}.example/"
    request = Request(url=url, adapter=_SOURCE, source_id=_SOURCE)
    queued = FetchQueued(
        at_ms=0,
        key=f"{fetch_id}:queued",
        fetch_id=fetch_id,
        call_id=call_id,
        request=request,
        uid=fetch_id,
        host="",
        disposition="queued",
    )
    finished = FetchFinished(
        at_ms=0,
        key=f"{fetch_id}:finished",
        fetch_id=fetch_id,
        call_id=call_id,
        url=url,
        state=FetchState.FETCHED.value,
        documents=(document,),
    )
    return queued, finished
