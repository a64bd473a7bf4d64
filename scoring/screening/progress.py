"""What became of a keyword: the judge's choices, held against the material they rest on.

A choice is stored with what it was made on. Satisfied stands while every row that it rests on stays as it was;
exhausted while nothing at all was added or changed. So a judge can close a keyword but not keep it closed.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from scoring.screening.figures import CONFIDENCE_AT_LEAST
from scoring.screening.gates import credited
from scoring.screening.judgement import known

Status = Literal["continue", "satisfied", "exhausted", "pending"]
Reason = Literal[
    "keyword_continue",
    "keyword_decision_unqualified",
    "keyword_material_changed",
    "keyword_satisfied",
    "keyword_exhausted",
    "keyword_pending",
]
TargetStatus = Literal["satisfied", "exhausted", "partial", "pending"]
Remark = Literal["satisfied_unqualified", "exhaustion_rejected", "match_retries_exhausted"]
Basis = tuple[tuple[str, str, str], ...]
"""Rows that a choice rests on: id, version of the text, date of publication."""


class Material(Struct, frozen=True, kw_only=True):
    """A row of a target that has a text. matches: by keyword; can_retry: its judge may be asked about it again."""

    id: str
    version: str
    published: str = ""
    is_assessed: bool = False
    is_useful: bool = False
    can_retry: bool = False
    matches: dict[str, float | None] = {}


class Decision(Struct, frozen=True, kw_only=True):
    """A choice as it was taken over; basis: of satisfied and exhausted, what it rests on."""

    status: Status = "continue"
    reason: Reason = "keyword_continue"
    basis: Basis = ()


class Standing(NamedTuple):
    """What a keyword's status is now, and why."""

    status: Status
    reason: Reason


class Taken(NamedTuple):
    """A decision, and what there is to say about how the judge's choice became it."""

    decision: Decision
    remark: Remark | None = None


PENDING = Decision(status="pending", reason="keyword_pending")


def standing(decision: Decision | None, keyword: str, rows: Sequence[Material]) -> Standing:
    """Return what a decision is worth now."""
    if decision is None:
        return Standing("continue", "keyword_continue")
    is_intact = True
    if decision.status == "satisfied":
        current = {(each.id, each.version) for each in _matching(keyword, rows)}
        is_intact = all(each[:2] in current for each in decision.basis)
    elif decision.status == "exhausted":
        is_intact = decision.basis == snapshot(rows)
    if not is_intact:
        return Standing("continue", "keyword_material_changed")
    return Standing(decision.status, decision.reason)


def take(
    choice: str | None,
    confidence: float | None,
    *,
    keyword: str,
    rows: Sequence[Material],
    successes: int,
) -> Taken:
    """Return what a judge's choice for a keyword becomes. successes: sources that answered for the target."""
    sure = known(confidence)
    if choice is None or sure is None or sure < CONFIDENCE_AT_LEAST:
        return Taken(PENDING)
    if choice == "satisfied":
        return _satisfied(keyword, rows)
    if choice == "exhausted":
        return _exhausted(keyword, rows, successes)
    return Taken(Decision())


def target_status(statuses: Sequence[Status]) -> TargetStatus:
    """Return what a target's keywords come to."""
    distinct = set(statuses)
    if distinct == {"satisfied"}:
        return "satisfied"
    if "pending" in distinct:
        return "pending"
    return "exhausted" if distinct == {"exhausted"} else "partial"


def snapshot(rows: Sequence[Material]) -> Basis:
    """Return all that a target has, to see later whether anything changed."""
    return tuple(sorted((each.id, each.version, each.published) for each in rows))


def _matching(keyword: str, rows: Sequence[Material]) -> list[Material]:
    return [each for each in rows if each.is_useful and credited(each.matches.get(keyword)) > 0]


def _satisfied(keyword: str, rows: Sequence[Material]) -> Taken:
    matching = _matching(keyword, rows)
    if not matching:
        refused = Decision(reason="keyword_decision_unqualified")
        return Taken(refused, "satisfied_unqualified")
    decision = Decision(status="satisfied", reason="keyword_satisfied", basis=snapshot(matching))
    return Taken(decision)


def _exhausted(keyword: str, rows: Sequence[Material], successes: int) -> Taken:
    """Accept it only where a source answered and everything was reviewed as far as it may be."""
    unknown = [each for each in rows if each.is_useful and known(each.matches.get(keyword)) is None]
    is_early = any(not each.is_assessed for each in rows) or any(each.can_retry for each in unknown)
    if not successes or is_early:
        return Taken(Decision(), "exhaustion_rejected")
    decision = Decision(status="exhausted", reason="keyword_exhausted", basis=snapshot(rows))
    return Taken(decision, "match_retries_exhausted" if unknown else None)
