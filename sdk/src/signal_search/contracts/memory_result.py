"""The result of a job that did something in research memory: what came of it, or why it was refused."""

from typing import Any, Literal

from msgspec import Struct

from signal_search.contracts.result import SourceOutcome, Stop

Family = Literal["not_found", "conflict", "invalid"]


class MemoryRefusal(Struct, frozen=True, kw_only=True):
    """Why a command was refused: the error's family, which tells its HTTP status, its code, words and field."""

    family: Family
    code: str
    message: str
    field: str | None = None


class MemoryAnswer(Struct, frozen=True, kw_only=True):
    """What came of a command: the record or page as JSON, or a refusal, which changed nothing."""

    value: dict[str, Any] = {}
    refusal: MemoryRefusal | None = None


class MemoryResult(Struct, frozen=True, kw_only=True, tag_field="kind", tag="memory"):
    """What a worker with the files answered, and how the job ended; no source is ever asked for it."""

    job_id: str
    answer: MemoryAnswer
    stop: Stop
    source_outcomes: tuple[SourceOutcome, ...] = ()
