"""When a search ends: all it asked has answered, or its time is over. Pure, and the same for surveys."""

from msgspec.structs import replace
from signal_search.contracts.plan import PlannedCall
from signal_search.contracts.query import Tier
from signal_search.contracts.result import Stop, StopReason

from scoring.stop_rule import Continue, Evidence
from scoring.stop_texts import TEXTS
from workers.pipeline.assess import Moment, outstanding
from workers.pipeline.decide import Decision
from workers.pipeline.follow_ups import follow_ups
from workers.pipeline.rules import Rules
from workers.pipeline.state import CallView, JobView
from workers.pipeline.wanted import Wanted


def decide_search(view: JobView, rules: Rules, *, now_ms: int) -> Decision:
    """Return what to fetch next, which stand-in to ask, or that this is all."""
    plan, _spec = view.require()
    is_last = now_ms >= plan.deadline_ms
    wanted = [] if is_last else _steps_on_the_way(view, rules)
    stand_ins = () if is_last else _stand_ins(view)
    open_calls = outstanding(view)
    at = Moment(now_ms, is_last)
    evidence = Evidence(tier=Tier.L0, outstanding=open_calls, unmade=len(wanted) + len(stand_ins))
    if not is_last and (wanted or stand_ins or open_calls):
        verdict = Continue(coverage=_answered(view), saturation=0.0, basis="")
        return Decision(verdict, evidence, at, wanted, stand_ins)
    return Decision(_stop(view, open_calls), evidence, at)


def _steps_on_the_way(view: JobView, rules: Rules) -> list[Wanted]:
    """Return redirects and further requests to the same API; the pages behind hits are not read."""
    return [each for each in follow_ups(view, rules) if each.request.kind != "page"]


def _stand_ins(view: JobView) -> tuple[PlannedCall, ...]:
    """Return the calls of sources that stand in for one that failed, all at once, as the next round."""
    plan, _spec = view.require()
    if plan.search is None:
        return ()
    wanted = {each.id: each.instead_of for each in plan.search.plan.calls if each.instead_of}
    failed = {
        call.call.source_id
        for call in view.calls.values()
        if not call.is_open and not has_answered(call)
    }
    return tuple(
        replace(call.call, round=view.round + 1)
        for call_id, call in view.calls.items()
        if call.call.round > view.round and wanted.get(call_id) in failed
    )


def has_answered(call: CallView) -> bool:
    """Say whether a source replied to a call, be it with nothing."""
    return any(each.has_arrived for each in call.fetches.values())


def _answered(view: JobView) -> float:
    asked = view.active_calls()
    return sum(has_answered(each) for each in asked) / len(asked) if asked else 0.0


def _stop(view: JobView, open_calls: int) -> Stop:
    plan, _spec = view.require()
    share = _answered(view)
    reason = StopReason.DEADLINE if open_calls else StopReason.PLAN_COMPLETE
    if not share:
        reason = StopReason.NO_SOURCE_REACHED
    language = "zh" if plan.language == "zh" else "en"
    return Stop(
        reason=reason,
        text=TEXTS[reason][language],
        exhausted=reason is StopReason.DEADLINE,
        coverage=round(share, 3),
        saturation=0.0,
        rounds=view.round,
        basis="sources that answered",
    )
