"""The kind `retrieve`: a question is answered from evidence, in rounds, until more would not help."""

from collections.abc import Mapping
from functools import partial

from msgspec.structs import replace
from signal_search.contracts.document import Document
from signal_search.contracts.job import JobEvent
from signal_search.contracts.outcome import AnyResult
from signal_search.contracts.plan import Plan, PlannedCall, SubQuestion
from signal_search.contracts.query import MEMORY_SOURCE, RetrieveRequest
from signal_search.contracts.result import Result, Stop, StopReason
from signal_search.contracts.source import SourceQuery

from infra.job_store import StoredJob
from workers.pipeline.assess import counted_documents
from workers.pipeline.consult_answer import consult
from workers.pipeline.consult_plan import Around, consulted
from workers.pipeline.decide import Decision, decide
from workers.pipeline.delegating import Asking, Reach, offer_of, waited_ms
from workers.pipeline.evidence import as_range, utc_day
from workers.pipeline.memory_call import with_memory
from workers.pipeline.publish import publish
from workers.pipeline.rules import Rules
from workers.pipeline.state import JobView, fold, retrieve_request
from workers.planning.decompose import Decomposition
from workers.planning.expand import terms_for
from workers.planning.planner import make_plan
from workers.planning.rounds import rewrite
from workers.registry import Source
from workers.toolbox import Toolbox

# Ends with an answer, but with less than was wanted.
_PARTIAL = frozenset(
    {StopReason.DEADLINE, StopReason.NO_SOURCE_REACHED, StopReason.BUDGET_COVERAGE}
)


class RetrieveJob:
    """`Strategy` of retrieve jobs."""

    asks_at_once = False

    def check(self, tools: Toolbox, stored: StoredJob) -> None:
        """Refuse a named source that does not exist here; a bare domain is a site, which the planner sees to.

        One that only lacks its key or address does exist: its call will say `not_configured`, the others are asked.
        """
        wanted = retrieve_request(stored.spec).constraints
        for name in wanted.source_prefs.only:
            if name == MEMORY_SOURCE and wanted.scope is not None:
                continue
            if (":" in name or "." not in name) and not tools.registry.lacks_setup(name):
                tools.registry.source(name)

    def plan(self, tools: Toolbox, stored: StoredJob) -> Plan:
        request = retrieve_request(stored.spec)
        if not request.delegate:
            draft = with_memory(_draft(tools, request), request)
            return replace(draft, deadline_ms=_deadline(tools, stored, draft))
        view = fold(entry for _id, entry in tools.log.read(stored.spec.id))
        reach = Reach(stored.spec.deadline_ms, tools.settings.delegation.plan_share)
        offer = offer_of(request.delegate, request.budget)
        asking = Asking(tools, stored.spec.id, view, reach, offer)
        draft = consulted(asking, request, partial(_draft, tools), _around(tools))
        draft = with_memory(
            draft, request
        )  # whatever the caller chose: no answer takes it away or adds it
        # The time of the tier begins when the caller has answered.
        deadline_ms = _deadline(tools, stored, draft, waited_ms(asking.view))
        return replace(draft, deadline_ms=deadline_ms)

    def ask(
        self, tools: Toolbox, plan: Plan, call: PlannedCall, source: Source, stored: StoredJob
    ) -> SourceQuery:
        """Return one sub-question in the source's words, or the whole question for a shared call."""
        question = next((each for each in plan.questions if each.id == call.question_id), None)
        if source.adapter.shared or question is None:
            question = SubQuestion(id="", text=plan.query, terms=_all_terms(plan))
        question = rewrite(question, call.round)
        languages = source.row.languages
        language = languages[0] if len(languages) == 1 else plan.language
        constraints = retrieve_request(stored.spec).constraints
        now_ms = tools.clock.now_ms()
        return SourceQuery(
            text=question.text,
            terms=terms_for(question, language),
            language=plan.language,
            freshness=as_range(constraints.freshness, now_ms),
            today=utc_day(now_ms).isoformat(),
        )

    def decide(
        self, view: JobView, documents: Mapping[str, Document], rules: Rules, *, now_ms: int
    ) -> Decision:
        return decide(view, documents, rules, now_ms=now_ms)

    def evidence(
        self, view: JobView, documents: Mapping[str, Document], decision: Decision
    ) -> tuple[str, ...]:
        return tuple(each.doc_id for each in counted_documents(view, documents, decision.at))

    def prepare(
        self, tools: Toolbox, view: JobView, documents: Mapping[str, Document], rules: Rules
    ) -> bool:
        """Ask who judges, and the caller what it can answer; an answer is worded here."""
        return consult(tools, view, documents, rules)

    def publish(self, view: JobView, documents: Mapping[str, Document], rules: Rules) -> Result:
        return publish(view, documents, rules)

    def rest(
        self, tools: Toolbox, view: JobView, documents: Mapping[str, Document], rules: Rules
    ) -> AnyResult | None:
        """Leave nothing: an unfinished answer is none."""
        return None

    def event(self, stop: Stop) -> JobEvent:
        return JobEvent.DEGRADE if stop.reason in _PARTIAL else JobEvent.SUCCEED


def _draft(tools: Toolbox, request: RetrieveRequest, outline: Decomposition | None = None) -> Plan:
    return make_plan(
        request,
        sources=tools.registry.views(),
        tiers=tools.settings.tiers,
        shared=tools.registry.is_shared,
        clarify_below=tools.settings.planning.clarify_below,
        outline=outline,
    )


def _around(tools: Toolbox) -> Around:
    return Around(
        sources=tools.registry.views(),
        widths={name: each.width for name, each in tools.settings.tiers.items()},
        clarify_below=tools.settings.planning.clarify_below,
    )


def _deadline(tools: Toolbox, stored: StoredJob, draft: Plan, waited_ms: int = 0) -> int:
    spec = stored.spec
    if retrieve_request(spec).constraints.deadline_s is not None:
        return spec.deadline_ms
    seconds = tools.settings.jobs.deadline_s[draft.tier.value]
    return min(spec.deadline_ms, spec.created_at_ms + waited_ms + int(seconds * 1000))


def _all_terms(plan: Plan) -> tuple[str, ...]:
    return tuple(dict.fromkeys(term for each in plan.questions for term in each.terms))
