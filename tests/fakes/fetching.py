"""Builders for the fetching tests: settings that allow one loopback web, and a fetcher on it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from signal_search.contracts.source import Request, RequestKind

from infra.clock import Clock, FixedClock
from infra.http import HttpClient, RawReply
from infra.settings import Settings, load
from tests.fakes.web import Web
from workers.fetching.fetcher import Fetcher
from workers.fetching.robots import RobotsRecord
from workers.fetching.url_guard import UrlGuard

NOW_MS = 1_790_000_000_000  # 2026-09-21T14:13:20Z
Result = TypeVar("Result")


def a_request(url: str, kind: RequestKind = "page", **fields: str) -> Request:
    named = {"adapter": "page", "source_id": "test", **fields}
    return Request(url=url, kind=kind, **named)  # type: ignore[arg-type]


def a_reply(
    body: bytes = b"",
    content_type: str = "text/html; charset=utf-8",
    *,
    url: str = "https://site.test/page",
    status: int = 200,
    **headers: str,
) -> RawReply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return RawReply(
        url=url,
        status=status,
        headers={"content-type": content_type, **named},
        body=body,
        fetched_at_ms=NOW_MS,
        wire_bytes=len(body),
    )


def an_open_record(origin: str) -> RobotsRecord:
    return RobotsRecord(
        origin=origin, state="allow_all", fetched_at_ms=NOW_MS, expires_at_ms=NOW_MS + 60_000
    )


def settings_for(web: Web, hosts: tuple[str, ...] = (), **fetch: object) -> Settings:
    mapped = dict.fromkeys(hosts, web.authority)
    loopback = {"allow": [web.authority], "only": True, "hosts": mapped}
    return load(loopback=loopback, fetch={"clients": 2, **fetch})


def with_fetcher(
    settings: Settings,
    play: Callable[[Fetcher], Awaitable[Result]],
    clock: Clock | None = None,
) -> Result:
    """Run `play` with a fetcher on a loop of its own, and close its connections."""

    async def run() -> Result:
        guard = UrlGuard(settings.fetch.ports, settings.loopback)
        time = clock or FixedClock(NOW_MS)
        async with HttpClient(settings.fetch, settings.loopback, guard.endpoints, time) as client:
            return await play(Fetcher(settings, client, guard, time))

    return asyncio.run(run())
