"""The intake: what arrives together is made together, and one request's fault is not its neighbours'."""

import asyncio
from collections.abc import Sequence
from threading import Event

import pytest
from signal_search.contracts.job import Job, JobState
from signal_search.contracts.query import RetrieveRequest
from signal_search.errors import Busy, SignalSearchError, StoreFailed

from api_gateway.intake import Answer, Intake
from api_gateway.submission import Asked, Caller
from tests.fakes.builders import NOW_MS


def job(name: str) -> Job:
    return Job(
        id=name,
        kind="retrieve",
        state=JobState.QUEUED,
        query=name,
        created_at_ms=NOW_MS,
        deadline_ms=NOW_MS + 1,
        links={},
    )


class Shop:
    """Makes jobs once its door is open; remembers the batches."""

    def __init__(self) -> None:
        self.door = Event()
        self.batches: list[list[str]] = []

    def submit(self, asked: Sequence[Asked]) -> Sequence[Answer | SignalSearchError]:
        assert self.door.wait(40)
        names = [request.query for request, _ in asked]
        self.batches.append(names)
        if "bug" in names:
            raise ZeroDivisionError
        if "away" in names:
            raise StoreFailed
        return [Busy() if each == "full" else (job(each), True) for each in names]


def play(shop: Shop, *names: str) -> dict[str, object]:
    """Submit all at the same time, the door closed until all have come; return what each got."""

    async def main() -> list[object]:
        intake = Intake(shop.submit)
        caller = Caller(tenant="red")
        tasks = [
            asyncio.create_task(intake.submit(RetrieveRequest(query=each), caller))
            for each in names
        ]
        await asyncio.sleep(0)
        shop.door.set()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        await intake.close()
        return list(found)

    answers = asyncio.run(main())
    return {
        name: answer[0].id if isinstance(answer, tuple) else type(answer)
        for name, answer in zip(names, answers, strict=True)
    }


def test_each_gets_its_own_job_or_refusal() -> None:
    shop = Shop()
    assert play(shop, "a", "full", "b") == {"a": "a", "full": Busy, "b": "b"}
    assert [each for batch in shop.batches for each in batch] == ["a", "full", "b"]


def test_what_waits_is_one_batch_of_at_most_64() -> None:
    shop = Shop()
    names = [f"q{number}" for number in range(100)]
    assert play(shop, *names) == {each: each for each in names}
    sizes = [len(each) for each in shop.batches]
    assert (sum(sizes), max(sizes) <= 64, len(sizes) <= 4) == (100, True, True)


def test_a_bug_fails_its_own_request_only() -> None:
    shop = Shop()
    assert play(shop, "a", "bug", "b") == {"a": "a", "bug": ZeroDivisionError, "b": "b"}


def test_a_store_that_is_away_is_everyones_answer() -> None:
    answers = play(Shop(), "away")
    assert answers == {"away": StoreFailed}


def test_a_request_that_was_given_up_harms_nobody() -> None:
    shop = Shop()

    async def main() -> str:
        intake = Intake(shop.submit)
        caller = Caller(tenant="red")
        gone = asyncio.create_task(intake.submit(RetrieveRequest(query="gone"), caller))
        kept = asyncio.create_task(intake.submit(RetrieveRequest(query="kept"), caller))
        await asyncio.sleep(0)
        gone.cancel()
        shop.door.set()
        found, _ = await kept
        with pytest.raises(asyncio.CancelledError):
            await gone
        await intake.close()
        return found.id

    assert asyncio.run(main()) == "kept"
