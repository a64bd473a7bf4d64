"""A transport whose jobs ask about their outline and wait; whoever follows on sees them end."""

from collections.abc import Iterator

from signal_search.contracts.delegation import Delegation, OutlineConfirm
from signal_search.contracts.job import Job, JobState
from signal_search.contracts.plan import Plan
from signal_search.contracts.query import DelegationKind, Intent, RetrieveRequest, Tier
from signal_search.contracts.trace import Delegated, LogEntry, Planned

OUTLINE = "# Tea\n\n1. tea\n2. tea definition concepts\n"


class Drafting:
    """`asks` false: the job plans without a question, as a narrow one does."""

    def __init__(self, *, asks: bool = True) -> None:
        """Start with no job."""
        self.asks = asks
        self.submitted: list[RetrieveRequest] = []
        self.cancelled: list[str] = []
        self.answered: list[str] = []

    def submit(self, request: RetrieveRequest, *, idempotency_key: str) -> Job:
        """Take a job; the key plays no part here."""
        self.submitted.append(request)
        return self.job(f"job_{len(self.submitted)}")

    def job(self, job_id: str) -> Job:
        """Return a job that waits."""
        return Job(
            id=job_id,
            kind="retrieve",
            state=JobState.DELEGATED,
            query="",
            created_at_ms=0,
            deadline_ms=0,
        )

    def events(self, job_id: str, *, after: str, wait_s: float) -> Iterator[tuple[str, LogEntry]]:
        """Yield the question, or the plan of a job that has none."""
        yield "1-0", _question() if self.asks else _plan()

    def cancel(self, job_id: str) -> Job:
        """Note the job."""
        self.cancelled.append(job_id)
        return self.job(job_id)

    def answer(self, job_id: str, delegation_id: str, reply: object) -> None:
        """Note that somebody let the job go on."""
        self.answered.append(job_id)

    def close(self) -> None:
        """Hold nothing."""


def _question() -> Delegated:
    question = OutlineConfirm(query="Tea", outline=OUTLINE, most=8)
    asked = Delegation(
        id="outline_confirm",
        kind=DelegationKind.OUTLINE_CONFIRM,
        question=question,
        answer_schema={},
        deadline_ms=600_000,
    )
    return Delegated(at_ms=0, key="asked", delegation=asked)


def _plan() -> Planned:
    plan = Plan(
        query="Tea",
        language="en",
        intent=Intent.FACT,
        intent_confidence=1.0,
        tier=Tier.L1,
        tier_reason="",
        questions=(),
        calls=(),
        limits={},
        max_sources=1,
        max_rounds=1,
    )
    return Planned(at_ms=0, key="planned", plan=plan, rules={})
