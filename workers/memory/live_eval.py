"""How well a model plans and orders: live cases through the router, with a fixed number of questions to the model.

Each case has tools of its own, which return the case's candidates in its order, so that nothing but the choice of tools
and the order is measured. Neither a query nor a candidate nor anything the model said is in the report.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, Literal

from msgspec import Struct
from signal_search.contracts.research import EvidenceChunk, RouterResult, ScopeKey
from signal_search.errors import Conflict, Invalid, JudgeFailed

from infra.clock import Clock
from workers.memory.live_cases import LiveCase
from workers.memory.live_figures import LiveFigures, aggregates
from workers.memory.model_planner import OVER_BUDGET, Ask, ModelPlanner
from workers.memory.plan import RulePlanner
from workers.memory.reading import PLAN_VERSION, RANK_VERSION
from workers.memory.reranking import MOST, ModelReranker, RuleReranker
from workers.memory.router import ACCEPTED, Router
from workers.memory.tool import Retrieved, Tool

MOST_CALLS: Final = (
    20  # memory guide: questions to the model in one run, for plans and orders together
)

Mode = Literal["rule", "llm", "hybrid"]


class CaseReport(Struct, frozen=True, kw_only=True):
    """What came of a case. degradation: the first code, empty when there was none.

    planner_calls, reranker_calls: questions that the model was really asked. candidates_truncated: there were more than
    the twenty that a model is shown.
    """

    case_id: str
    scenario_kind: str
    prompt_version: str
    mode: Mode
    accepted_tools: tuple[str, ...]
    planner_calls: int
    reranker_calls: int
    scope_leak_count: int
    passed: bool
    degradation: str
    candidates_truncated: bool


class LiveReport(Struct, frozen=True, kw_only=True):
    """All cases. model_refusal: why no model was asked, empty when one was, or none was wanted."""

    dataset_version: str
    mode: Mode
    model_refusal: str
    calls: int
    max_calls: int
    figures: LiveFigures
    cases: tuple[CaseReport, ...]


class _Counted:
    """A way to the model that counts, within what is left of the run."""

    def __init__(self, ask: Ask, left: "_Left") -> None:
        self._ask = ask
        self._left = left
        self.calls = 0

    def __call__(self, system: str, user: str) -> str:
        if not self._left.calls:
            raise JudgeFailed("The questions of this run are used up.", code=OVER_BUDGET)
        self._left.calls -= 1
        self.calls += 1
        return self._ask(system, user)


class _Left:
    """How many questions may still be put in this run."""

    def __init__(self, calls: int) -> None:
        self.calls = calls


class _CaseTool:
    """A channel that returns the candidates of a case."""

    provider = "local"
    read_only = True

    def __init__(self, name: str, case: LiveCase, clock: Clock) -> None:
        self.name = name
        self._case = case
        self._clock = clock

    def index_updated_at(self, scope: ScopeKey) -> datetime:
        return datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC)

    def retrieve(self, query: str, scope: ScopeKey) -> Retrieved:
        """Return each candidate with its id, in words, as its text: there is nothing else to go by."""
        return Retrieved(
            tuple(
                EvidenceChunk(
                    chunk_id=name,
                    scope=self._case.key,
                    content=name.replace("-", " "),
                    source_ref=name,
                )
                for name in self._case.candidate_ids
            )
        )


class LiveRun:
    """Runs cases; asks the model at most `max_calls` times over all of them."""

    def __init__(self, clock: Clock, ask: Ask | None, *, mode: Mode, max_calls: int) -> None:
        """Put questions through `ask`; without one only the rules can be measured.

        Raises:
            Invalid: the number of questions is not from 1 to 20, or there is no model for this mode.
        """
        if not 1 <= max_calls <= MOST_CALLS:
            raise Invalid("A run asks from 1 to 20 times.", field="max_live_calls")
        if mode != "rule" and ask is None:
            raise Invalid("There is no model for this mode.", field="mode")
        self._clock = clock
        self._ask = ask
        self._mode: Mode = mode
        self._max_calls = max_calls

    def report(
        self, version: str, cases: Sequence[LiveCase], *, model_refusal: str = ""
    ) -> LiveReport:
        """Return the report.

        Raises:
            Conflict: `unsafe_scope_rejected`: something of another scope came out; there is no report then.
        """
        left = _Left(self._max_calls)
        rows = tuple(self._case(case, left) for case in cases)
        if any(each.scope_leak_count for each in rows):
            raise Conflict("Evidence of another scope came out.", code="unsafe_scope_rejected")
        return LiveReport(
            dataset_version=version,
            mode=self._mode,
            model_refusal=model_refusal,
            calls=self._max_calls - left.calls,
            max_calls=self._max_calls,
            figures=aggregates(list(zip(cases, rows, strict=True))),
            cases=rows,
        )

    def _case(self, case: LiveCase, left: _Left) -> CaseReport:
        tools: list[Tool] = [_CaseTool(name, case, self._clock) for name in case.allowed_tools]
        if self._mode == "rule" or self._ask is None:
            router = Router(tools, self._clock, planner=RulePlanner(""), reranker=RuleReranker())
            return self._told(case, router.retrieve(case.query, case.key), 0, 0)
        planning, ordering = _Counted(self._ask, left), _Counted(self._ask, left)
        router = Router(
            tools,
            self._clock,
            planner=ModelPlanner(planning),
            reranker=ModelReranker(ordering, self._mode),
        )
        found = router.retrieve(case.query, case.key)
        return self._told(case, found, planning.calls, ordering.calls)

    def _told(self, case: LiveCase, found: RouterResult, planned: int, ordered: int) -> CaseReport:
        tools = tuple(
            each.tool_name
            for each in found.traces
            if each.reason == ACCEPTED and each.tool_name in case.allowed_tools
        )
        foreign = sum(each.scope != case.key for each in found.evidence)
        return CaseReport(
            case_id=case.case_id,
            scenario_kind=case.scenario_kind,
            prompt_version="rules" if self._mode == "rule" else f"{PLAN_VERSION}+{RANK_VERSION}",
            mode=self._mode,
            accepted_tools=tools,
            planner_calls=planned,
            reranker_calls=ordered,
            scope_leak_count=found.scope_leak_count + foreign,
            passed=_passed(case, tools, found),
            degradation=next(iter(found.degradations), ""),
            candidates_truncated=len(found.evidence) > MOST,
        )


def _passed(case: LiveCase, tools: Sequence[str], found: RouterResult) -> bool:
    """Tell whether the expected tools ran, all that is relevant is there and early enough, and nothing was missing."""
    returned = [each.chunk_id for each in found.evidence]
    rank = next((at for at, name in enumerate(returned, 1) if name in case.relevant_ids), None)
    worst = case.expected_first_relevant_rank
    return (
        not found.degradations
        and set(tools) == set(case.expected_tools)
        and set(case.relevant_ids) <= set(returned)
        and (worst is None or (rank is not None and rank <= worst))
    )
