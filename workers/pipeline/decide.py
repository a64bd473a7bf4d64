"""What to do next: a pure function of the state. The same log, figures and time give the same decision."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace
from signal_search.contracts.document import Document
from signal_search.contracts.plan import PlannedCall
from signal_search.contracts.result import Stop

from scoring.stop_rule import Continue, Evidence, StopRules
from scoring.stop_rule import decide as stop_or_go
from workers.pipeline.assess import Moment, assess
from workers.pipeline.evidence import arrived_documents, asked_on
from workers.pipeline.follow_ups import follow_ups
from workers.pipeline.news import is_dry
from workers.pipeline.reading import Reading
from workers.pipeline.rules import Rules, stop_rules_for
from workers.pipeline.state import CallView, JobView, call_of
from workers.pipeline.wanted import Wanted
from workers.planning.rounds import next_round
from workers.screening.actions import Judge


@dataclass(frozen=True)
class Decision:
    """The actions: fetch these, open these calls as the next round, ask the judge, or stop.

    `assessment` and `why` (of a round) are for the log.
    """

    assessment: Continue | Stop
    evidence: Evidence
    at: Moment
    fetches: list[Wanted] = field(default_factory=list)
    calls: tuple[PlannedCall, ...] = ()
    judge: Judge | None = None
    why: str = "sub-questions are still open"

    @property
    def stop(self) -> Stop | None:
        """Return the decision to stop, if it is one."""
        return self.assessment if isinstance(self.assessment, Stop) else None


def decide(
    view: JobView, documents: Mapping[str, Document], rules: Rules, *, now_ms: int
) -> Decision:
    """Return what to do next for a planned job that has not stopped."""
    plan, _spec = view.require()
    is_last = now_ms >= plan.deadline_ms
    wanted = [] if is_last else follow_ups(view, rules, is_dry=_dryness(view, documents, rules))
    at = Moment(now_ms, is_last, frozenset(call_of(each.fetch_id) for each in wanted))
    evidence = assess(view, documents, rules, at)
    stop_rules = stop_rules_for(view, rules, evidence.sites)
    following = _following(view, evidence, stop_rules)
    evidence = replace(evidence, unmade=len(wanted) + len(following))
    verdict = stop_or_go(evidence, stop_rules, plan.language)
    if isinstance(verdict, Stop):
        return Decision(verdict, evidence, at)
    is_over = not wanted and not evidence.outstanding
    return Decision(verdict, evidence, at, wanted, following if is_over else ())


def _dryness(
    view: JobView, documents: Mapping[str, Document], rules: Rules
) -> Callable[[CallView], bool]:
    """Return the test of a call's own pages, each call by itself."""

    def test(call: CallView) -> bool:
        own = arrived_documents(call.in_order(), documents)
        return is_dry(
            view, call, Reading(own, rules.verify, asked_on(view)), rules.stop.quiet_arrivals
        )

    return test


def _following(view: JobView, evidence: Evidence, rules: StopRules) -> tuple[PlannedCall, ...]:
    """Return the calls of the next round: those the plan put off, and open sub-questions in other words."""
    plan, _spec = view.require()
    open_ids = {
        each.question_id
        for each in evidence.questions
        if each.sites < rules.min_sources and not each.is_contrary
    }
    left = plan.limits.get("calls", 0) - sum(
        each.started is not None for each in view.calls.values()
    )
    found = next_round(plan, open_ids, view.round + 1, left)
    reached = {
        view.calls[each.call_id].call.source_id for each in view.fetches() if each.has_arrived
    }
    return tuple(
        each
        for each in found
        if each.source_id in reached  # asking again in other words does not reach the unreachable
        and (each.id not in view.calls or _is_later(view, each))
    )


def _is_later(view: JobView, call: PlannedCall) -> bool:
    return view.calls[call.id].call.round > view.round
