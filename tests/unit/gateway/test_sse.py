"""Events: the shape on the wire, keep-alive lines, and an end for every stream. Time is counted in reads, not waited for."""

import asyncio
from typing import Any

import pytest
from redis import Redis
from signal_search.contracts.job import JobEvent, JobState
from signal_search.contracts.trace import CallRefused, Ended
from signal_search.errors import Busy, Invalid

from api_gateway.sse import event, start_after, stream
from api_gateway.watch import Watch
from infra.clock import FixedClock
from infra.job_log import START, JobLog, Located
from infra.job_store import JobStore
from infra.redis import connect_async
from tests.fakes.builders import NOW_MS, a_job


def refused(key: str) -> CallRefused:
    return CallRefused(
        at_ms=NOW_MS, key=key, call_id="c", source_id="one", reason="budget", detail="a\nb"
    )


ENDED = Ended(at_ms=NOW_MS, key="ended", state=JobState.CANCELLED)


class Script(Watch):
    """A watch whose reads are written down beforehand; it notes how it was asked."""

    def __init__(self, *reads: list[Located], max_waiters: int = 1) -> None:
        self._reads = iter(reads)
        self._free = max_waiters
        self.is_closing = False
        self.asked: list[tuple[str, int]] = []

    async def read(self, job_id: str, *, after: str, timeout_ms: int) -> list[Located]:
        self.asked.append((after, timeout_ms))
        return next(self._reads)


def run(watch: Script, *over: bool, after: str = START) -> list[bytes]:
    answers = iter(over)

    async def is_over() -> bool:
        return next(answers)

    async def collect() -> list[bytes]:
        return [
            each
            async for each in stream(watch, "job_1", after=after, is_over=is_over, keep_alive_ms=15)
        ]

    return asyncio.run(collect())


def test_an_entry_is_one_event():
    raw = event(("7-0", refused("k")))
    assert raw == (
        b"id: 7-0\nevent: call_refused\n"
        b'data: {"type":"call_refused","at_ms":1790000000000,"key":"k","call_id":"c","source_id":"one",'
        b'"reason":"budget","detail":"a\\nb"}\n\n'
    )


def test_a_stream_waits_keeps_alive_and_ends_with_the_job():
    watch = Script([("1-0", refused("a"))], [], [("2-0", ENDED)])
    out = run(watch, False, False, False)
    assert out[1:] == [event(("1-0", refused("a"))), b": keep-alive\n\n", event(("2-0", ENDED))]
    assert watch.asked == [(START, 15), ("1-0", 15), ("1-0", 15)]


def test_who_has_seen_the_end_does_not_wait_for_it():
    watch = Script([])
    assert len(run(watch, True, after="2-0")) == 1
    assert watch.asked == [("2-0", 1)]


def test_a_job_that_expires_ends_its_streams():
    watch = Script([], [])
    assert run(watch, False, True)[1:] == [b": keep-alive\n\n"]


def test_the_place_is_given_back():
    watch = Script([], max_waiters=1)
    run(watch, True)
    watch.check_place()
    with watch.place(), pytest.raises(Busy):
        watch.check_place()


@pytest.mark.parametrize(("given", "after"), [(None, "0-0"), ("5-3", "5-3"), ("0-0", "0-0")])
def test_where_to_go_on(given: str | None, after: str):
    assert start_after(given) == after


@pytest.mark.parametrize("given", ["", "5", "-1-0", "5-3 ", "$", "+", "1-0\n", "٣-٠"])
def test_what_is_no_event_id(given: str):
    with pytest.raises(Invalid) as caught:
        start_after(given)
    assert caught.value.field == "Last-Event-ID"


def test_a_server_that_ends_lets_go_of_its_streams(redis: Redis, redis_url: str):
    """What is there is given, then the stream ends with a word of farewell; it is gone on with elsewhere."""

    async def main() -> list[bytes]:
        client = connect_async(redis_url)
        watch = Watch(client, FixedClock(NOW_MS))

        async def is_over() -> bool:
            return False

        events = stream(watch, "job_1", after=START, is_over=is_over)
        got = [await anext(events)]
        asyncio.get_running_loop().call_later(0.1, watch.close)
        got += [each async for each in events]  # without the end: for ever
        assert await watch.read("job_1", after=START, timeout_ms=60_000) == []
        await client.aclose()
        return got

    assert asyncio.run(main()) == [
        b"retry: 2000\n\n",
        b": this server ends; come back with Last-Event-ID\n\n",
    ]


# --- waiting, over a real store


def waiting(redis_url: str, act: Any, within_s: float, says: list[dict[str, str]]) -> bool:
    async def main() -> bool:
        client = connect_async(redis_url)
        gone = asyncio.Event()

        async def receive() -> dict[str, str]:
            if says:
                return says.pop(0)
            await gone.wait()
            raise AssertionError

        watch = Watch(client, Moving())
        task = asyncio.create_task(watch.ended("job_1", within_s=within_s, receive=receive))
        await asyncio.to_thread(act)
        answer = await task
        await client.aclose()
        return answer

    return asyncio.run(main())


class Moving(FixedClock):
    """A clock on which ten milliseconds pass whenever it is asked."""

    def __init__(self) -> None:
        super().__init__(NOW_MS)

    def monotonic(self) -> float:
        self.advance(10)
        return super().monotonic()


def test_waiting_ends_with_the_server(redis: Redis, redis_url: str):
    async def main() -> bool:
        client = connect_async(redis_url)
        watch = Watch(client, FixedClock(NOW_MS))  # its time does not pass
        asyncio.get_running_loop().call_later(0.1, watch.close)
        answer = await watch.ended("job_1", within_s=60, receive=asyncio.Event().wait)  # type: ignore[arg-type]
        await client.aclose()
        return answer

    assert asyncio.run(main()) is False


def test_waiting_ends_with_the_job(redis: Redis, redis_url: str):
    JobStore(redis).create(a_job())

    def act() -> None:
        JobLog(redis).append("job_1", refused("a"))
        JobStore(redis).end(a_job(), JobEvent.CANCEL, ENDED)

    assert waiting(redis_url, act, 15.0, []) is True


def test_waiting_ends_when_the_caller_leaves(redis: Redis, redis_url: str):
    JobStore(redis).create(a_job())
    says = [{"type": "http.request"}, {"type": "http.disconnect"}]
    assert waiting(redis_url, lambda: None, 15.0, says) is False


def test_waiting_ends_with_its_time(redis: Redis, redis_url: str):
    JobStore(redis).create(a_job())
    assert waiting(redis_url, lambda: None, 0.03, []) is False
