"""What to do next: a pure function of the state. The same log, figures and time give the same decision."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace
from signal_search.contracts.document import Document
from signal_search.contracts.plan import PlannedCall
from signal_search.contracts.result import Stop

from scoring.stop_rule import Continue, Evidence
from scoring.stop_rule import decide as stop_or_go
from workers.pipeline.assess import assess
from workers.pipeline.follow_ups import follow_ups
from workers.pipeline.rules import Rules, stop_rules_for
from workers.pipeline.state import JobView
from workers.pipeline.wanted import Wanted


@dataclass(frozen=True)
class Decision:
    """The actions: fetch these, open these calls in the next round, or stop. `assessment` is for the log."""

    assessment: Continue | Stop
    fetches: list[Wanted] = field(default_factory=list)
    calls: list[PlannedCall] = field(default_factory=list)
    stop: Stop | None = None
    evidence: Evidence | None = None


def decide(
    view: JobView, documents: Mapping[str, Document], rules: Rules, *, now_ms: int
) -> Decision:
    """Return what to do next for a planned job that has not stopped."""
    plan, _spec = view.require()
    is_last = now_ms >= plan.deadline_ms
    evidence = assess(view, documents, rules, now_ms=now_ms, is_last=is_last)
    wanted = [] if is_last else follow_ups(view, rules)
    following = _following(view)
    evidence = _with_plans(evidence, wanted, following)
    verdict = stop_or_go(evidence, stop_rules_for(view, rules), plan.language)
    if isinstance(verdict, Stop):
        return Decision(assessment=verdict, stop=verdict, evidence=evidence)
    opened = following if not wanted and not evidence.outstanding else []
    return Decision(assessment=verdict, fetches=wanted, calls=opened, evidence=evidence)


def _following(view: JobView) -> list[PlannedCall]:
    """Return the calls of the next round that has any."""
    later = [each.call for each in view.calls.values() if each.call.round > view.round]
    first = min((each.round for each in later), default=0)
    return [each for each in later if each.round == first]


def _with_plans(evidence: Evidence, wanted: list[Wanted], following: list[PlannedCall]) -> Evidence:
    return replace(evidence, unmade=len(wanted) + max(evidence.unmade, len(following)))
