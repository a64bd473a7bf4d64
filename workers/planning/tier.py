"""How deep to look, with the reason: L0 one checkable value, L1 one fact, L2 weigh and diagnose, L3 a field.

What the caller ordered goes before every rule; reasons are in the words of the design document and shown to the user.
"""

from collections.abc import Callable

from msgspec import Struct
from signal_search.contracts.query import Intent, Tier

from workers.planning.cues import cues_of

RESEARCH = "含研究/调研类词"
WEIGH = "含诊断/对比/方案类词"
CHECKABLE = "答案唯一可验证"
SINGLE = "默认单点查询"
ORDERED = "用户指定"
NARROW = "调研一个明确的点"


class TierReading(Struct, frozen=True):
    """The tier and why."""

    tier: Tier
    reason: str


def read_tier(text: str, intent: Intent, ordered: Tier | None = None) -> TierReading:
    """Choose the tier: the caller's order, else by the intent and the cues of the wording."""
    if ordered is not None:
        return TierReading(ordered, ORDERED)
    return _BY_INTENT[intent](cues_of(text))


def _research(cues: frozenset[str]) -> TierReading:
    if cues & {"breadth", "span", "open", "list"}:
        return TierReading(Tier.L3, RESEARCH)
    return TierReading(Tier.L2, NARROW if "study" in cues else WEIGH)


def _compare(cues: frozenset[str]) -> TierReading:
    if "textbook" in cues:
        return TierReading(Tier.L0, CHECKABLE)
    return TierReading(Tier.L2, WEIGH)


def _why(_: frozenset[str]) -> TierReading:
    return TierReading(Tier.L2, WEIGH)


def _howto(cues: frozenset[str]) -> TierReading:
    if "manage" in cues or "weigh" in cues:
        return TierReading(Tier.L2, WEIGH)
    if {"operate", "tool"} <= cues or "syntax" in cues or "define" in cues:
        return TierReading(Tier.L0, CHECKABLE)
    return TierReading(Tier.L1, SINGLE)


def _latest(cues: frozenset[str]) -> TierReading:
    if "now" in cues or "number" in cues or "naming" in cues:
        return TierReading(Tier.L1, SINGLE)
    return TierReading(Tier.L2, WEIGH)


def _verify(cues: frozenset[str]) -> TierReading:
    return TierReading(Tier.L2, WEIGH) if "weigh" in cues else TierReading(Tier.L1, SINGLE)


def _fact(cues: frozenset[str]) -> TierReading:
    if "date" in cues:
        return TierReading(Tier.L0, CHECKABLE)
    if "weigh" in cues:
        return TierReading(Tier.L2, WEIGH)
    is_value = cues & {"measure", "number", "define", "syntax"}
    if is_value and not cues & {"registered", "naming", "now"}:
        return TierReading(Tier.L0, CHECKABLE)
    return TierReading(Tier.L1, SINGLE)


_BY_INTENT: dict[Intent, Callable[[frozenset[str]], TierReading]] = {
    Intent.RESEARCH: _research,
    Intent.COMPARE: _compare,
    Intent.WHY: _why,
    Intent.HOWTO: _howto,
    Intent.LATEST: _latest,
    Intent.VERIFY: _verify,
    Intent.FACT: _fact,
}
