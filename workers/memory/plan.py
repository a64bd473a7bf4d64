"""Plans of tool calls: what a plan may be, and the plan by rules that needs no model. Pure."""

import re
from collections.abc import Collection, Sequence
from typing import Final, Protocol, TypeGuard

from msgspec import Struct

from workers.memory.tool import BM25, GREP, MEMORY, VECTOR

MAX_ROUNDS: Final = 6  # memory guide
MAX_CALLS: Final = 12  # memory guide

Rounds = tuple[tuple[str, ...], ...]
Capabilities = tuple[tuple[str, str], ...]

_ORDER: Final = (MEMORY, GREP, BM25, VECTOR)
_ORDER_FOR_CODE: Final = (GREP, BM25, MEMORY, VECTOR)
# Where exact words matter more than meaning (memory guide).
_ABOUT_CODE: Final = re.compile(r"error|traceback|报错|异常|\.py", re.IGNORECASE)

INVALID: Final = "invalid_plan"
BUDGET: Final = "budget_exceeded"
DUPLICATE: Final = "duplicate_tool"
UNKNOWN: Final = "unknown_tool"


class Plan(Struct, frozen=True):
    """Rounds of tool names. `degradation` says why a better planner's plan was not used, empty when it was."""

    rounds: Rounds
    degradation: str = ""
    is_models: bool = False


class Planner(Protocol):
    """Proposes; the router decides. Sees the query and the tools' names with fixed summaries, nothing else."""

    def plan(self, query: str, tools: Capabilities) -> Plan:
        """Return a plan; it always has one, by rules when nothing better can be had."""
        ...


def wrong_with(rounds: object, registered: Collection[str]) -> str | None:
    """Return what is wrong with the rounds of a plan (INVALID, BUDGET, DUPLICATE, UNKNOWN), None when nothing is.

    At most 6 rounds and 12 names, each name registered and once in the whole plan.
    """
    if not is_rounds(rounds):
        return INVALID
    names = [name for each in rounds for name in each]
    if len(rounds) > MAX_ROUNDS or len(names) > MAX_CALLS:
        return BUDGET
    if len(set(names)) != len(names):
        return DUPLICATE
    return None if set(names) <= set(registered) else UNKNOWN


def is_rounds(rounds: object) -> TypeGuard[Sequence[Sequence[str]]]:
    """Tell whether this is a sequence of sequences of names, whatever the names are."""
    if isinstance(rounds, str) or not isinstance(rounds, Sequence):
        return False
    return all(
        isinstance(each, Sequence)
        and not isinstance(each, str)
        and all(isinstance(name, str) and name.strip() for name in each)
        for each in rounds
    )


class RulePlanner:
    """One round with every registered tool; where a query is about code, exact channels first."""

    def __init__(self, degradation: str = "planner_llm_disabled") -> None:
        """Say `degradation` with each plan: why no model planned."""
        self._degradation = degradation

    def plan(self, query: str, tools: Capabilities) -> Plan:
        """Return the plan."""
        return Plan((by_rules(query, [name for name, _said in tools]),), self._degradation)


def by_rules(query: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names in the order in which the rules ask them; others follow, by name."""
    order = _ORDER_FOR_CODE if _ABOUT_CODE.search(query) else _ORDER
    others = sorted(
        (name for name in names if name not in order), key=lambda name: (name.casefold(), name)
    )
    return (*(name for name in order if name in names), *others)
