"""How often tier and intent are read right: labelled questions in, counts and shares per set out. Pure."""

from collections.abc import Iterable

from msgspec import Struct
from signal_search.contracts.query import Intent, Tier

from workers.planning.intent import read_intent
from workers.planning.tier import read_tier


class PlanningCase(Struct, frozen=True, forbid_unknown_fields=False):
    """A question with the tiers and intents that are right for it; where two readings are fair, both are listed."""

    q: str
    tier: tuple[Tier, ...]
    intent: tuple[Intent, ...]
    set: str = ""


class Reading(Struct, frozen=True):
    """A question and how it was read."""

    q: str
    tier: Tier
    intent: Intent


class PlanningReport(Struct, frozen=True):
    """One set: n questions, how many tiers and intents are right, the shares (0..1, four decimals), and the misses."""

    n: int
    tier_right: int
    intent_right: int
    tier: float
    intent: float
    misses: tuple[Reading, ...]


def evaluate_planning(cases: Iterable[PlanningCase]) -> dict[str, PlanningReport]:
    """Return the figures of each set, from the words of the questions alone: there is no memory to be asked."""
    sets: dict[str, list[PlanningCase]] = {}
    for each in cases:
        sets.setdefault(each.set, []).append(each)
    return {name: _report(members) for name, members in sorted(sets.items())}


def _report(cases: list[PlanningCase]) -> PlanningReport:
    read = [(each, _reading(each.q)) for each in cases]
    tiers = sum(found.tier in each.tier for each, found in read)
    intents = sum(found.intent in each.intent for each, found in read)
    misses = tuple(
        found
        for each, found in read
        if found.tier not in each.tier or found.intent not in each.intent
    )
    n = len(cases)
    return PlanningReport(n, tiers, intents, round(tiers / n, 4), round(intents / n, 4), misses)


def _reading(text: str) -> Reading:
    intent = read_intent(text).intent
    return Reading(text, read_tier(text, intent).tier, intent)
