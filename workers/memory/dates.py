"""When evidence is from: the day a memory was published, or a file was last changed; never when it was read."""

from datetime import UTC, datetime
from typing import Any, Final

from signal_search.contracts.document import DateKind
from signal_search.contracts.research import EvidenceChunk

UPDATED: Final = "updated_at"
"""In the metadata of a memory: when it reached its state, which for one that is found is published."""
MODIFIED: Final = "modified_at"
"""In the metadata of lines of a file: when the file was last changed."""
_NEVER_MS: Final = 253_402_300_800_000  # the year 10000
_KINDS: Final[tuple[tuple[str, DateKind], ...]] = ((UPDATED, "updated"), (MODIFIED, "modified"))


def modified(at_ms: int) -> dict[str, Any]:
    """Return the metadata for a file of this time (epoch milliseconds); nothing for one that nobody's clock has shown.

    0 is what archives write that keep no times.
    """
    if not 0 < at_ms < _NEVER_MS:
        return {}
    when = datetime.fromtimestamp(at_ms / 1000, UTC)
    return {MODIFIED: when.isoformat(timespec="seconds").replace("+00:00", "Z")}


def date_of(chunk: EvidenceChunk, now_ms: int) -> tuple[str, DateKind]:
    """Return the UTC day that evidence is from and what kind of day that is; none where it is unknown or still to come.

    A clock that was wrong when a file was written would else make it the freshest of all.
    """
    for name, kind in _KINDS:
        told = chunk.metadata.get(name)
        if isinstance(told, str):
            when = datetime.fromisoformat(told)
            is_past = when.timestamp() * 1000 <= now_ms
            return (when.astimezone(UTC).date().isoformat(), kind) if is_past else ("", "none")
    return "", "none"
