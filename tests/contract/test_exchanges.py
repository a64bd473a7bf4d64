"""A claim is prolonged while its request is at work, and not a moment longer, whatever the store's client does."""

import asyncio
from typing import Any

from budget.frontier import Claim
from infra.clock import FixedClock
from infra.settings import load
from tests.fakes.builders import NOW_MS
from workers.pipeline.exchange import Exchanges

CLAIM = Claim(uid="u", host="h.test", payload=b"", attempt=1, fence=1, lease_until_ms=NOW_MS)


class LosesCancellations:
    """A frontier whose client takes a cancellation for a lost connection, the first two times."""

    def __init__(self) -> None:
        self.renewals = 0
        self.lost = 0
        self.is_asked = asyncio.Event()

    async def renew(self, claim: Claim, *, lease_ms: int, now_ms: int = 0) -> bool:
        self.renewals += 1
        self.is_asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.lost += 1
            if self.lost > 2:
                raise
        return True


def test_a_claim_is_let_go_even_if_a_cancellation_gets_lost(redis_url: str) -> None:
    async def work() -> LosesCancellations:
        settings = load(redis_url=redis_url, frontier={"lease_s": 0.003})
        exchanges = Exchanges(
            settings, FixedClock(NOW_MS)
        )  # not opened: no parsers, no connections
        frontier: Any = LosesCancellations()
        exchanges.frontier = frontier
        async with exchanges._held(CLAIM):
            await frontier.is_asked.wait()
        return frontier

    frontier = asyncio.run(work())
    assert frontier.lost == 3
