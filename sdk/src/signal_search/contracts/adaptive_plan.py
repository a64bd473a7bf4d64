"""How an adaptive search is carried out: its targets as they were understood, and the figures that bound it."""

from typing import Literal

from msgspec import Struct

JudgeDriver = Literal["none", "systemone", "openai_chat", "delegate", "rule"]


class TargetWindow(Struct, frozen=True, kw_only=True):
    """Days in UTC, both inclusive. inferred: read from the words, not given."""

    start: str
    end: str
    basis: Literal["published", "event"]
    inferred: bool = False


class Topic(Struct, frozen=True, kw_only=True):
    """A topic that the caller named."""

    id: str
    question: str


class Origin(Struct, frozen=True, kw_only=True):
    """Where in the request a target stands: number (from 1, over all), task and target as the caller named them."""

    number: int
    task_id: str | None = None
    target_id: str | None = None


class Target(Struct, frozen=True, kw_only=True):
    """What is searched and judged as one; equal targets of a request share one and keep their origins.

    text: the question, or context and question; acceptance: the question of a task's target, "" without a task.
    given: the caller's keywords, empty when there were none; keywords: those that are judged.
    """

    id: str
    text: str
    keywords: tuple[str, ...]
    given: tuple[str, ...] = ()
    context: str = ""
    acceptance: str = ""
    intent: str | None = None
    window: TargetWindow | None = None
    topics: tuple[Topic, ...] = ()
    origins: tuple[Origin, ...] = ()


class ScreenLimits(Struct, frozen=True, kw_only=True):
    """The bounds of one adaptive search (adaptive search guide, "execution and stopping"); counted per job.

    Tokens are estimated input tokens; http attempts are reserved `attempts_per_call` at a time; characters are counted
    of compact JSON.
    """

    rounds: int = 6
    searches: int = 30
    judge_calls: int = 72
    http_attempts: int = 80
    attempts_per_call: int = 3
    input_tokens: int = 1_200_000
    pool: int = 500
    least_pool: int = 24
    total_pool: int = 3_000
    batch_size: int = 24
    batch_per_target: int = 24
    batches: int = 64
    review_attempts: int = 2
    idle_rounds: int = 2
    source_failures: int = 2
    state_chars: int = 48_000
    request_chars: int = 60_000
    warnings: int = 40
    decision_tokens: int = 30_000
    least_left_ms: int = 1_500


class AdaptiveFrame(Struct, frozen=True, kw_only=True):
    """What the plan of an adaptive search holds.

    pool: the sources that may be asked, in the order of the settings; offered: those of them that can be asked here.
    today: the UTC day of the call. hits: how many a source is asked for, by depth.
    """

    targets: tuple[Target, ...]
    driver: JudgeDriver
    limits: ScreenLimits
    offered: tuple[str, ...]
    today: str
    hits: dict[str, int] = {}
    notes: tuple[str, ...] = ()
    page_size: int = 20
    by_dates: bool = True
