"""Which published memories may be used, how far they are to be believed, and which of several that disagree. Pure."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from signal_search.contracts.research import MemoryStatus, ResearchMemory, ScopeKey

# Memory guide: what the parts of a confidence count, and how long a memory is fresh and how long it fades.
_SOURCE, _PUBLISHED, _ENVIRONMENT, _FRESHNESS, _COMPLETENESS = 0.35, 0.25, 0.20, 0.10, 0.10
_FRESH_DAYS: Final = 183
_FADING_DAYS: Final = 365
_ONE_SOURCE: Final = 0.6


def is_usable(memory: ResearchMemory, scope: ScopeKey) -> bool:
    """Tell whether a memory may be evidence: of this scope, published, and for this environment or for none."""
    is_published = memory.status is MemoryStatus.PUBLISHED
    return memory.scope == scope and is_published and _fits(memory, scope)


def _fits(memory: ResearchMemory, scope: ScopeKey) -> bool:
    named = memory.applicability.get("experiment_environments")
    if "experiment_environments" not in memory.applicability:
        return True
    return isinstance(named, list | tuple) and scope.experiment_environment in named


def confidence(memory: ResearchMemory, scope: ScopeKey, now: datetime) -> float:
    """Return how far a memory is to be believed, 0 to 1: sources, state, environment, age, completeness."""
    score = (
        _SOURCE * _sources(memory)
        + _PUBLISHED * (memory.status is MemoryStatus.PUBLISHED)
        + _ENVIRONMENT * _fits(memory, scope)
        + _FRESHNESS * _freshness(memory, now)
        + _COMPLETENESS * _completeness(memory)
    )
    return min(max(score, 0.0), 1.0)


def _sources(memory: ResearchMemory) -> float:
    named = sum(bool(each.strip()) for each in memory.source_refs)
    return (0.0, _ONE_SOURCE, 1.0)[min(named, 2)]


def _freshness(memory: ResearchMemory, now: datetime) -> float:
    days = (now.astimezone(UTC).date() - memory.updated_at.astimezone(UTC).date()).days
    return 1.0 if days <= _FRESH_DAYS else max(0.0, 1.0 - (days - _FRESH_DAYS) / _FADING_DAYS)


def _completeness(memory: ResearchMemory) -> float:
    known = memory.applicability
    parts = (
        bool(memory.source_refs),
        isinstance(known.get("locator"), str),
        bool(known.get("verification_log")),
        bool(known.get("experiment_id")),
    )
    return sum(parts) / len(parts)


def without_conflicts(memories: Sequence[ResearchMemory]) -> list[ResearchMemory]:
    """Return one memory of each group that shares a `conflict_key`, behind those that share none, in their order.

    Kept is the one with the highest confidence of its own, then the newest, then the smallest id.
    """
    alone = [each for each in memories if not _group(each)]
    groups: dict[str, list[ResearchMemory]] = {}
    for each in memories:
        if _group(each):
            groups.setdefault(_group(each), []).append(each)
    return [*alone, *(min(group, key=_strength) for group in groups.values())]


def _group(memory: ResearchMemory) -> str:
    key = memory.applicability.get("conflict_key")
    return key.strip() if isinstance(key, str) else ""


def _strength(memory: ResearchMemory) -> tuple[float, float, str]:
    return (-memory.confidence, -memory.updated_at.timestamp(), memory.memory_id)
