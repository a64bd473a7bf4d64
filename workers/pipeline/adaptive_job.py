"""The kind `adaptive`: search and review until a judge has seen enough of every keyword, within bounds of its own."""

from collections.abc import Mapping

from msgspec import UNSET
from signal_search.contracts.adaptive import AdaptiveRequest
from signal_search.contracts.adaptive_plan import AdaptiveFrame, Target
from signal_search.contracts.adaptive_result import AdaptiveResult
from signal_search.contracts.budget import Amounts, Dimension
from signal_search.contracts.document import Document
from signal_search.contracts.job import AdaptiveSpec, JobEvent
from signal_search.contracts.outcome import AnyResult
from signal_search.contracts.plan import Plan, PlannedCall, SubQuestion
from signal_search.contracts.query import Intent, Tier
from signal_search.contracts.result import Stop, StopReason
from signal_search.contracts.source import SourceQuery
from signal_search.errors import Broken

from budget.policy import limits_for
from infra.job_store import StoredJob
from infra.result_sets import ResultSets
from infra.settings import Settings
from scoring.screening.pages import PAGE_SIZE
from scoring.screening.targets import targets_of
from workers.judges.drivers import configured_driver
from workers.pipeline.adaptive_decide import decide_adaptive
from workers.pipeline.adaptive_publish import cancelled, publish_adaptive, set_of
from workers.pipeline.decide import Decision
from workers.pipeline.evidence import utc_day
from workers.pipeline.hits_job import configured
from workers.pipeline.rules import Rules
from workers.pipeline.state import JobView
from workers.planning.expand import own_terms
from workers.planning.language import language_of
from workers.planning.search_reading import source_ids
from workers.registry import Source
from workers.toolbox import Toolbox

_RELATIVE = "dates such as today are days in UTC"


class AdaptiveJob:
    """`Strategy` of adaptive searches."""

    asks_at_once = False

    def check(self, tools: Toolbox, stored: StoredJob) -> None:
        """Refuse what has no targets; the gateway has looked at it before."""
        _targets(tools.settings, stored)

    def plan(self, tools: Toolbox, stored: StoredJob) -> Plan:
        request, figures = request_of(stored), tools.settings.adaptive
        named = source_ids(request.sources or ())
        pool = named or tuple(figures.sources)
        usable = configured(tools, named)
        targets = _targets(tools.settings, stored)
        today = utc_day(stored.spec.created_at_ms)
        frame = AdaptiveFrame(
            targets=targets,
            driver=configured_driver(tools.settings),
            limits=figures.screen_limits,
            offered=tuple(each for each in dict.fromkeys(pool) if each in usable),
            today=today.isoformat(),
            hits={"medium": figures.hits_medium, "complex": figures.hits_complex},
            notes=_notes(targets),
            page_size=PAGE_SIZE if request.page_size is UNSET else request.page_size,
            by_dates=figures.dates_in_questions,
        )
        return _plan(tools.settings, stored, frame)

    def ask(
        self, tools: Toolbox, plan: Plan, call: PlannedCall, source: Source, stored: StoredJob
    ) -> SourceQuery:
        language = request_of(stored).constraints.language or plan.language
        return SourceQuery(
            text=call.text,
            terms=own_terms(call.text),
            language=language,
            freshness=call.freshness,
            limit=call.limit,
            today=plan.adaptive.today if plan.adaptive is not None else "",
        )

    def decide(
        self, view: JobView, documents: Mapping[str, Document], rules: Rules, *, now_ms: int
    ) -> Decision:
        return decide_adaptive(view, documents, rules, now_ms=now_ms)

    def evidence(
        self, view: JobView, documents: Mapping[str, Document], decision: Decision
    ) -> tuple[str, ...]:
        return tuple(documents)

    def prepare(
        self, tools: Toolbox, view: JobView, documents: Mapping[str, Document], rules: Rules
    ) -> bool:
        """Keep the result set for its cursors; made again it is the same one."""
        _plan, spec = view.require()
        figures = tools.settings.adaptive
        found = set_of(view, documents, ttl_s=rules.page_ttl_s)
        if found.rows and view.stopped is not None:
            sets = ResultSets(tools.redis, most=figures.page_sets)
            end_ms = view.stopped.at_ms + rules.page_ttl_s * 1000
            sets.put(spec.tenant, found, created_ms=view.stopped.at_ms, end_ms=end_ms)
        return False

    def publish(
        self, view: JobView, documents: Mapping[str, Document], rules: Rules
    ) -> AdaptiveResult:
        return publish_adaptive(view, documents, ttl_s=rules.page_ttl_s)

    def rest(
        self, tools: Toolbox, view: JobView, documents: Mapping[str, Document], rules: Rules
    ) -> AnyResult | None:
        """Leave what was approved before the job was cancelled, with its cursor."""
        seen = cancelled(view, documents)
        if seen is None:
            return None
        self.prepare(tools, seen, documents, rules)
        return self.publish(seen, documents, rules)

    def event(self, stop: Stop) -> JobEvent:
        is_through = stop.reason is StopReason.KEYWORD_QUEUE_EMPTY
        return JobEvent.SUCCEED if is_through else JobEvent.DEGRADE


def request_of(stored: StoredJob) -> AdaptiveRequest:
    """Return what an adaptive search was asked.

    Raises:
        Broken: it is a job of another kind.
    """
    if not isinstance(stored.spec, AdaptiveSpec):
        raise Broken
    return stored.spec.request


def _targets(settings: Settings, stored: StoredJob) -> tuple[Target, ...]:
    today = utc_day(stored.spec.created_at_ms)
    by_dates = settings.adaptive.dates_in_questions
    return targets_of(request_of(stored), today, by_dates=by_dates)


def _notes(targets: tuple[Target, ...]) -> tuple[str, ...]:
    """Return warnings about windows that nobody gave."""
    inferred = [each for each in targets if each.window is not None and each.window.inferred]
    told = [
        f"{each.id}: its words were read as {each.window.basis} from {each.window.start} to {each.window.end}"
        for each in inferred
        if each.window is not None
    ]
    return (*told, _RELATIVE) if told else ()


def _plan(settings: Settings, stored: StoredJob, frame: AdaptiveFrame) -> Plan:
    text = "\n".join(each.text for each in frame.targets)
    limits = _limits(settings, stored, frame)
    return Plan(
        query=text,
        language=language_of(text),
        intent=Intent.RESEARCH,
        intent_confidence=1.0,
        tier=Tier.L0,
        tier_reason="an adaptive search has no tier",
        questions=tuple(SubQuestion(id=each.id, text=each.text) for each in frame.targets),
        calls=(),
        limits={each.value: amount for each, amount in limits.items()},
        max_sources=len(frame.offered),
        max_rounds=frame.limits.rounds,
        deadline_ms=stored.spec.deadline_ms,
        adaptive=frame,
    )


def _limits(settings: Settings, stored: StoredJob, frame: AdaptiveFrame) -> Amounts:
    """Return what the job may spend: on sources by the settings, on the judge by its own bounds; the caller's win."""
    own = {
        **settings.adaptive.purse.model_dump(),
        Dimension.ROUNDS.value: frame.limits.rounds,
        Dimension.JUDGE_REQUESTS.value: frame.limits.http_attempts,
        Dimension.MODEL_TOKENS.value: frame.limits.input_tokens,
    }
    return limits_for(own, request_of(stored).budget)
