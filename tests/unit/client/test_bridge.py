"""Between blocking and asyncio: what never suspends runs to its end, what does is a bug that is told."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from signal_search.client.bridge import iterate_now, run_now
from signal_search.client.timing import BlockingTiming, LoopTiming, Timing
from signal_search.errors import Broken


def test_what_does_not_suspend_runs_now() -> None:
    async def inner() -> int:
        return 6

    async def outer() -> int:
        return await inner() + 1

    assert run_now(outer()) == 7


def test_what_suspends_is_a_bug() -> None:
    with pytest.raises(Broken):
        run_now(asyncio.sleep(0))


def test_leaving_an_iteration_runs_its_clean_up() -> None:
    steps: list[str] = []

    async def numbers() -> AsyncGenerator[int, None]:
        try:
            yield 1
            yield 2
        finally:
            steps.append("closed")

    assert list(iterate_now(numbers())) == [1, 2]
    for _ in (items := iterate_now(numbers())):
        break
    items.close()
    assert steps == ["closed", "closed"]


@pytest.mark.parametrize("timing", [BlockingTiming(), LoopTiming()])
def test_time_goes_on(timing: Timing) -> None:
    before = timing.monotonic()
    asyncio.run(timing.pause(0.001))  # type: ignore[arg-type]
    assert timing.monotonic() > before
