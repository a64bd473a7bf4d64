"""What an adaptive search asks: questions or tasks with targets, and the next page of what it found before.

Texts are bounded after trimming, which no type can say: `scoring.screening.targets` refuses what is too long, with the
field. Nothing is cut off or left out silently.
"""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from signal_search.contracts.budget import Budget, Limit
from signal_search.contracts.search import ResultTtl, SearchConstraints, Sources

Keywords = tuple[str | tuple[str, ...], ...]


class TimeRange(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Days (YYYY-MM-DD, both inclusive, UTC). basis: `published` or `event`, what has to lie within."""

    start: str
    end: str
    basis: str


class Fact(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An optional topic of a target: results are credited for it, answering it is not required."""

    id: str
    question: str


class AskedTarget(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one target of a task looks for."""

    id: str
    keywords: tuple[str, ...]
    question: str
    intent: str | UnsetType = UNSET
    facts: tuple[Fact, ...] | UnsetType = UNSET


class Task(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Targets with a context in common."""

    context: str
    targets: tuple[AskedTarget, ...]
    time_range: TimeRange | UnsetType = UNSET


class AdaptiveRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An adaptive search as submitted: exactly one of questions and tasks, or a cursor.

    questions 1..6; keywords only with them: a flat list for one question, one list for each for several. tasks 1..6,
    12 targets in all. intent: for the judge alone, no part of any query. cursor: the next page of an earlier search,
    with nothing beside it but page_size (1..50). Besides the guide's own fields those that all searches have.
    """

    questions: tuple[str, ...] | UnsetType = UNSET
    keywords: Keywords | UnsetType = UNSET
    tasks: tuple[Task, ...] | UnsetType = UNSET
    intent: str | UnsetType = UNSET
    cursor: str | UnsetType = UNSET
    page_size: Annotated[int, Meta(ge=1, le=50)] | UnsetType = UNSET
    sources: Sources | None = None
    constraints: SearchConstraints = SearchConstraints()
    budget: Limit | Budget | None = None
    result_ttl_s: ResultTtl | None = None
