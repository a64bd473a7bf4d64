"""A search of four sources that take 50 ms each, from request to hits, beside the four bare requests sent at once.

The whole walk over HTTP: submission, plan, frontier, fetch, parse, reduce, order, synthesis. The sources are the
emulators of the four web services, slowed down; replies to a key are a job's own, so nothing comes from the cache.
Searches and bare requests take turns. Between them the bench rests, since Brave states a pace of one request a second,
which the product keeps.

    python -m bench.search_latency [--quick]
"""

import asyncio
import json
import time

from signal_search.client import Client

from bench import report
from bench.arithmetic import in_ms
from bench.raw_client import exchange
from bench.stacks import Place, own_stack
from infra.loopback_web.server import ADDRESS

SEARCHES = report.size(100, 30)
DELAY_S = 0.05
_WARM = 5
_REST_S = 1.2
KEYS = {
    "BRAVE_API_KEY": "BSAloopback0001",
    "EXA_API_KEY": "01234567-89ab-cdef-0123-456789abcdef",
    "TAVILY_API_KEY": "tvly-loopback0001",
    "GROK_API_KEY": "xai-loopback0001",
}
HOSTS = ("api.search.brave.com", "api.exa.ai", "api.tavily.com", "api.x.ai")
_VARIABLES = {
    **KEYS,
    "SIGNAL_SEARCH_POLITENESS__LOOPBACK_INTERVAL_S": "0",
    "SIGNAL_SEARCH_SEARCH__SCORER_SEARCH_MAX_CONCURRENCY": "8",
}


async def slow_down(port: int) -> None:
    """Let every request to the four take so long."""
    for host in HOSTS:
        fault = {"host": host, "latency_s": DELAY_S, "count": None}
        status, _body = await sent(port, _post("127.0.0.1", "/__faults", fault))
        report.require(status < 300, "a source that is not slow")


async def sent(port: int, request: bytes) -> tuple[int, bytes]:
    """Send a request over a connection of its own."""
    streams = await asyncio.open_connection(ADDRESS, port)
    try:
        return await exchange(streams, request)
    finally:
        streams[1].close()


async def bare(port: int) -> float:
    """Send four requests that the emulators answer, at once; return the seconds to the last answer."""
    words = {"query": "tidal array record"}
    brave = f"/res/v1/web/search?q=tidal HTTP/1.1\r\nHost: {HOSTS[0]}\r\n"
    requests = (
        f"GET {brave}X-Subscription-Token: {KEYS['BRAVE_API_KEY']}\r\n\r\n".encode(),
        _post(HOSTS[1], "/search", words, f"X-Api-Key: {KEYS['EXA_API_KEY']}"),
        _post(HOSTS[2], "/search", words, f"Authorization: Bearer {KEYS['TAVILY_API_KEY']}"),
        _post(HOSTS[3], "/v1/responses", words, f"Authorization: Bearer {KEYS['GROK_API_KEY']}"),
    )
    began = time.perf_counter()
    await asyncio.gather(*(sent(port, each) for each in requests))
    return time.perf_counter() - began


def _post(host: str, path: str, body: object, header: str = "Accept: */*") -> bytes:
    raw = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\n{header}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(raw)}\r\n\r\n".encode() + raw


def measure(at: Place) -> tuple[list[float], list[float]]:
    """Return the seconds of each search and of each four bare requests."""
    searches: list[float] = []
    requests: list[float] = []

    async def turns() -> None:
        await slow_down(at.ports["web"])
        for number in range(SEARCHES + _WARM):
            requests.append(await bare(at.ports["web"]))
            searches.append(await asyncio.to_thread(_search, at, number))
            await asyncio.sleep(_REST_S)

    asyncio.run(turns())
    return searches[_WARM:], requests[_WARM:]


def _search(at: Place, number: int) -> float:
    with Client(at.gateway) as client:
        client.sources()  # the connection is there, as a caller's would be
        began = time.perf_counter()
        result = client.search(f"tidal array record {number}", mode="deep")
        took = time.perf_counter() - began
    report.require(not result.errors, f"a search without all its sources: {result.errors}")
    report.require(result.hits, "a search without hits")
    return took


def main() -> None:
    with own_stack(variables=_VARIABLES) as at:
        searches, requests = measure(at)
    ours, theirs = in_ms(searches), in_ms(requests)
    report.tell("search of four sources", {"ours": ours, "bare": theirs})
    more = {name: round(ours[name] - theirs[name], 2) for name in ("p50_ms", "p99_ms")}
    rows = [
        report.row(
            f"search of four sources of 50 ms, request -> hits: {part[:3]}, ms",
            ours[part],
            n=SEARCHES,
            peer=theirs[part],
            bar=bar,
            judged=more[part],
        )
        for part, bar in (("p50_ms", "<= 50 more"), ("p99_ms", ""))
    ]
    report.finish(rows, {"ours": ours, "four_bare_requests": theirs, "more": more})


if __name__ == "__main__":
    main()
