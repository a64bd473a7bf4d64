"""A crawl worker without Celery: the product's own frontier and fetchers, with one of three exchanges.

`raw`: bare asyncio streams, no robots.txt, no parsing; `httpx`: the product's HTTP client in the same place; `whole`:
the product's exchange as it is. Says when it is ready, and waits to be let go, so that a measurement has one beginning.

    python -m bench.crawler raw|httpx|whole PORT
"""

import sys
from typing import Self
from urllib.parse import urlsplit

import uvloop
from signal_search.contracts.source import FetchOutcome, FetchState, Request
from typing_extensions import override

from bench.raw_client import RawClient
from budget.frontier import Claim
from infra.clock import Clock, SystemClock
from infra.http import HttpClient
from infra.redis import connect
from infra.settings import Settings, current
from workers.fetch_loop import Fetchers
from workers.fetching.stored_reply import Kept, StoredReply
from workers.fetching.url_guard import UrlGuard
from workers.pipeline.exchange import Exchanges, Finished, Postponed
from workers.toolbox import open_toolbox

SLOW_MS = 1000  # between the requests of one host whose path begins with /slow


class PlainExchanges(Exchanges):
    """One request for one claim and nothing else; sent only while the claim's lease holds."""

    def __init__(self, settings: Settings, clock: Clock, kind: str, port: int) -> None:
        super().__init__(settings, clock)
        self._plain_settings = settings
        self._plain_clock = clock
        self._raw = RawClient(port) if kind == "raw" else None
        guard = UrlGuard(settings.fetch.ports, settings.loopback)
        self._http = HttpClient(settings.fetch, settings.loopback, guard.endpoints, clock)

    @override
    async def __aenter__(self) -> Self:
        """Return itself: there is no parser to warm."""
        return self

    @override
    async def make(self, claim: Claim, request: Request) -> Finished | Postponed:
        """Use a claim's slot for its one request."""
        if claim.lease_until_ms <= self._plain_clock.now_ms():
            return Postponed()
        url = urlsplit(request.url)
        status, length = await self._fetch(url.netloc, url.path, request.url)
        outcome = FetchOutcome(
            state=FetchState.FETCHED, url=request.url, status=status, bytes=length
        )
        slow = url.path.startswith("/slow")
        pause_ms = SLOW_MS if slow else self._plain_settings.pause_ms(claim.host)
        ended_s = self._plain_clock.monotonic()
        return Finished(
            Kept(reply=StoredReply(outcome=outcome)), pause_ms=pause_ms, ended_s=ended_s
        )

    async def _fetch(self, host: str, path: str, url: str) -> tuple[int, int]:
        if self._raw is not None:
            status, body = await self._raw.fetch(host, path)
            return status, len(body)
        reply = await self._http.get(url, headers={"user-agent": "bench"})
        return reply.status, len(reply.body)


async def main(kind: str, port: int) -> None:
    settings, clock = current(), SystemClock()
    tools = open_toolbox(settings, lambda _task, _step: None)
    made = Exchanges(settings, clock) if kind == "whole" else None
    async with made or PlainExchanges(settings, clock, kind, port) as exchanges:
        fetchers = Fetchers(tools, exchanges)
        gate = connect(settings.redis_url)
        gate.incr("bench:ready")
        gate.blpop(["bench:go"], timeout=25)
        gate.close()
        await fetchers.run()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], int(sys.argv[2])))
