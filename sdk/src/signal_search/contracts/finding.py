"""What a job found: statements, the claims in them, their verdicts and where each is written."""

from enum import StrEnum

from msgspec import Struct


class Verdict(StrEnum):
    """Three-valued: refuted and could-not-check are different things."""

    TRUE = "TRUE"
    FALSE = "FALSE"
    UNCERTAIN = "UNCERTAIN"


class Span(Struct, frozen=True, kw_only=True):
    """A passage of a stored document: UTF-8 byte offsets [start, end) into its text, and the text itself."""

    doc_id: str
    url: str
    start: int
    end: int
    quote: str


class Claim(Struct, frozen=True, kw_only=True):
    """One atomic statement and what the sources say of it. `independent` counts corroborating other sites."""

    text: str
    verdict: Verdict
    reason: str
    supporting: tuple[Span, ...] = ()
    contradicting: tuple[Span, ...] = ()
    independent: int = 0


class Finding(Struct, frozen=True, kw_only=True):
    """A statement with at least one citation; without one it cannot be built.

    citations are positions in the result's `sources`, from 1. `label` marks the weaker side of a conflict, or what is
    not known to be of the time that was asked for.
    """

    text: str
    question_id: str
    question: str
    claims: tuple[Claim, ...]
    citations: tuple[int, ...]
    confidence: float
    label: str = ""

    def __post_init__(self) -> None:
        """Refuse a finding without a citation.

        Raises:
            ValueError: when `citations` is empty.
        """
        if not self.citations:
            msg = "a finding needs a citation"
            raise ValueError(msg)


class Uncertainty(Struct, frozen=True, kw_only=True):
    """A statement that could not be settled, and why."""

    text: str
    reason: str
    url: str = ""


class Conflict(Struct, frozen=True, kw_only=True):
    """Two sources that disagree; the one with the higher weighted score comes first."""

    topic: str
    kind: str
    stronger: Span
    weaker: Span
    stronger_weight: float
    weaker_weight: float
