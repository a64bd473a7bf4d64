"""Who follows a job answers what it asks: once, whichever way it was heard of, and a refusal harms nobody."""

import asyncio
from typing import Any

from signal_search.client.answering import Answering, LoopWorker
from signal_search.client.delegates import Delegates
from signal_search.client.following import Update
from signal_search.contracts.delegation import (
    Delegation,
    DelegationReply,
    DelegationState,
    TierClassify,
)
from signal_search.contracts.job import Job, JobState
from signal_search.contracts.query import DelegationKind, Tier
from signal_search.contracts.trace import Delegated, DelegationAnswered
from signal_search.errors import Conflict, Invalid, SignalSearchError

ASKED = Delegation(
    id="tier_classify",
    kind=DelegationKind.TIER_CLASSIFY,
    question=TierClassify(query="q", suggested=Tier.L1, options=tuple(Tier)),
    answer_schema={},
    deadline_ms=5_000,
)
JOB = Job(
    id="job_1", kind="retrieve", state=JobState.DELEGATED, query="", created_at_ms=0, deadline_ms=9
)
ENTRY = Delegated(at_ms=0, key="x", delegation=ASKED)


class Desk:
    """Takes answers; `refusal` is raised for the first one."""

    def __init__(self, refusal: SignalSearchError | None = None) -> None:
        self.refusal = refusal
        self.got: list[DelegationReply] = []

    async def answer(self, job_id: str, delegation_id: str, reply: DelegationReply) -> None:
        self.got.append(reply)
        refusal, self.refusal = self.refusal, None
        if refusal is not None:
            raise refusal

    async def delegations(self, job_id: str) -> tuple[DelegationState, ...]:
        return (DelegationState(delegation=ASKED, state="open", asked_at_ms=0),)


def heard(desk: Desk, delegates: Delegates, *updates: Update) -> list[DelegationReply]:
    async def hear() -> None:
        answering = Answering(desk, delegates, LoopWorker())  # type: ignore[arg-type]
        for each in updates:
            await answering.hear(each)

    asyncio.run(hear())
    return desk.got


def says(value: Any) -> Delegates:
    return {"tier_classify_fn": lambda _query: value}


L2 = DelegationReply(answer={"tier": "L2"})
DECLINED = DelegationReply(decline=True)


def test_an_entry_that_comes_again_is_answered_once():
    update = Update(JOB, ENTRY, "1-0")
    assert heard(Desk(), says("L2"), update, update, Update(JOB, None, "1-0")) == [L2]


def test_without_a_stream_a_job_that_waits_is_asked_what_it_wants():
    assert heard(Desk(), says("L2"), Update(JOB, None, ""), Update(JOB, None, "")) == [L2]


def test_what_somebody_else_answered_is_left_alone():
    end = DelegationAnswered(
        at_ms=1, key="y", delegation_id=ASKED.id, kind=ASKED.kind, answer={"tier": "L0"}
    )
    assert heard(Desk(), says("L2"), Update(JOB, end, "1-0"), Update(JOB, ENTRY, "1-0")) == []


def test_a_refused_answer_is_declined_so_that_the_job_need_not_wait():
    assert heard(Desk(Invalid(field="answer.tier")), says("L2"), Update(JOB, ENTRY, "")) == [
        L2,
        DECLINED,
    ]


def test_a_late_answer_harms_nobody():
    assert heard(Desk(Conflict(code="delegation_late")), says("L2"), Update(JOB, ENTRY, "")) == [L2]


def test_nonsense_and_nothing_decline():
    for value in ("L9", None, object()):
        assert heard(Desk(), says(value), Update(JOB, ENTRY, "")) == [DECLINED]
    assert heard(Desk(), {}, Update(JOB, ENTRY, "")) == [DECLINED]


def test_one_model_answers_what_has_no_callable():
    model: Delegates = {
        "llm_fn": lambda prompt: 'I say {"tier": "L2"}.' if "SCHEMA" in prompt else ""
    }
    assert heard(Desk(), model, Update(JOB, ENTRY, "")) == [L2]
