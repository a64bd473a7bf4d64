"""Fetches per second over 500 hosts at 50 ms with two crawl workers, beside bare asyncio fetchers on the same server.

Ours three times: the real frontier and fetch loop with a raw client in place of the exchange, with the product's HTTP
client in that place, and the whole pipeline of a real stack. Speed, gaps and overlaps are counted by the server's log,
round trips by the store.

    python -m bench.frontier [--quick]
"""

import time
from contextlib import ExitStack
from typing import Any

from bench import report
from bench.arithmetic import Seen, gaps, host_use, middle, overlaps, per_second, violations
from bench.place import HOSTS, INTERVAL_S, RawServer, crawlers, raw_server, running, store
from bench.raw_client import host_name
from bench.requests import Trips, offer_all, offers
from bench.stacks import shared_stack
from infra.redis import Redis, connect

PAGES = {"bare": report.size(20, 12), "raw": report.size(20, 12), "httpx": report.size(8, 3)}
WHOLE_PAGES = report.size(2, 1)
_START_S = 2.0


def bare(server: RawServer, processes: int) -> list[Seen]:
    """Let bare asyncio fetchers read every host's pages, each host at its interval."""
    start = time.monotonic() + _START_S
    shape = [str(server.port), str(HOSTS), str(PAGES["bare"]), str(INTERVAL_S)]
    with ExitStack() as ending:
        for share in range(processes):
            parts = ["-m", "bench.raw_client", *shape, str(share), str(processes), str(start)]
            ending.enter_context(running(f"bare{share}", parts))
        return server.wait_for(HOSTS * PAGES["bare"])


def ours(kind: str, url: str, server: RawServer) -> tuple[list[Seen], dict[str, float]]:
    """Let two crawlers do the same through the frontier."""
    paths = [f"/{kind}/{number}" for number in range(PAGES[kind])]
    redis = connect(url)
    with crawlers(kind, 2, url, server) as go:
        offer_all(redis, [each for at in range(HOSTS) for each in offers(host_name(at), paths)])
        trips = Trips(redis)
        go()
        seen = server.wait_for(HOSTS * len(paths))
        cost = trips.per(len(seen))
    redis.close()
    return seen, cost


def whole(redis: Redis, server: RawServer) -> tuple[list[Seen], dict[str, float]]:
    """Let the crawl workers of a stack read robots.txt and pages, extract, redact and keep them."""
    paths = [f"/whole/{number}" for number in range(WHOLE_PAGES)]
    trips = Trips(redis)
    offer_all(redis, [each for at in range(HOSTS) for each in offers(host_name(at), paths)])
    seen = server.wait_for(HOSTS * (WHOLE_PAGES + 1))
    return seen, trips.per(len(seen))


def figures(seen: list[Seen], cost: dict[str, float] | None = None) -> dict[str, Any]:
    """Return what the log of one run says."""
    return {
        "n": len(seen),
        "fetches_per_second": round(per_second(seen, INTERVAL_S)),
        "violations": violations(seen, INTERVAL_S),
        "overlaps": overlaps(seen),
        "least_gap_ms": round(min(gaps(seen)) * 1000, 1),
        "host_use_median": round(middle(host_use(seen, INTERVAL_S)), 3),
        **(cost or {}),
    }


NAMES = {
    "raw": "fetches/s, 500 hosts at 50 ms, raw client",
    "httpx": "... with the product's HTTP client",
    "whole": "... whole pipeline",
}


def rows(found: dict[str, dict[str, Any]]) -> list[report.Row]:
    """Return the table's rows: speed, trips, politeness."""
    made = []
    peer = found["bare"]["fetches_per_second"]
    for kind, name in NAMES.items():
        mine = found[kind]
        speed = mine["fetches_per_second"]
        bar = ">= 0.5" if kind == "raw" else ""
        made.append(report.row(name, speed, n=mine["n"], peer=peer, ratio=speed / peer, bar=bar))
    for kind, what in (("raw", "raw client"), ("whole", "whole pipeline")):
        mine = found[kind]
        trips = mine["trips_per_fetch"]
        made.append(report.row(f"Redis trips per fetch, {what}", trips, n=mine["n"], bar="<= 0.3"))
    for what in ("violations", "overlaps"):
        counts = [found[kind][what] for kind in NAMES]
        n = sum(found[kind]["n"] for kind in NAMES)
        peers = found["bare"][what]
        made.append(
            report.row(f"{what}, 500 hosts at 50 ms", sum(counts), n=n, peer=peers, bar="<= 0")
        )
    use = found["raw"]["host_use_median"]
    made.append(
        report.row(
            "busy host: time over least, all 500 hosts busy at 50 ms",
            use,
            n=found["raw"]["n"],
            peer=found["bare"]["host_use_median"],
            bar="<= 1.1",
        )
    )
    return made


def main() -> None:
    found: dict[str, dict[str, Any]] = {}
    with raw_server() as server, store() as url:
        found["bare"] = figures(bare(server, 2))
        report.tell("bare", found["bare"])
        for kind in ("raw", "httpx"):
            found[kind] = figures(*ours(kind, url, server))
            report.tell(kind, found[kind])
    with shared_stack() as at:
        found["whole"] = figures(*whole(at.redis, at.server))
        report.tell("whole", found["whole"])
    report.finish(rows(found), found)


if __name__ == "__main__":
    main()
