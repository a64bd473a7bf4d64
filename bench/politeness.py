"""Politeness of two crawl workers, undisturbed, and while one is killed (-9) and the store is killed and comes back.

A real stack reads robots.txt and many pages of few hosts, so that every host is asked as soon as it may be; the server
takes 20 ms for each and judges by its own clock. In the second crawl one worker is killed at a quarter and the store at
half; the stack's own supervisor starts both again, the store with what its append-only file holds. A request may be
made twice then, but never too early.

    python -m bench.politeness [--quick]
"""

import os
import signal
import time
from typing import Any

from bench import report
from bench.arithmetic import Seen, gaps, overlaps, violations
from bench.place import INTERVAL_S
from bench.raw_client import host_name
from bench.requests import offer_all, offers
from bench.stacks import Place, own_stack

HOSTS = 12
PAGES = report.size(60, 42)
WANTED = HOSTS * (PAGES + 1)  # robots.txt too
WORKER_KILLED_AT, STORE_KILLED_AT = 0.25, 0.5
_PATIENCE_S = 30.0  # ten leases: what was not asked for by then never will be
_SETTINGS = {"SIGNAL_SEARCH_FRONTIER__LEASE_S": "3", "SIGNAL_SEARCH_QUEUE__LEASE_S": "4"}

Victims = list[tuple[float, int]]
"""Whom to kill once which share is served: (share, process)."""


def served(seen: list[Seen]) -> int:
    """Return how many different requests were answered."""
    return len({(each.host, each.path) for each in seen})


def victims_of(at: Place) -> Victims:
    [worker] = at.pids("worker-crawl1")
    store = int(at.redis.info("server")["process_id"])
    return [(WORKER_KILLED_AT, worker), (STORE_KILLED_AT, store)]


def crawl(at: Place, first: int, victims: Victims) -> list[Seen]:
    """Crawl some hosts until all is served or nothing more comes; return the server's log."""
    paths = [f"/polite/{number}" for number in range(PAGES)]
    hosts = [host_name(number) for number in range(first, first + HOSTS)]
    offer_all(at.redis, [each for host in hosts for each in offers(host, paths)])
    if victims:
        time.sleep(1.2)  # the append-only file is written through each second
    seen: list[Seen] = []
    moved = time.monotonic()
    while served(seen) < WANTED and time.monotonic() - moved < _PATIENCE_S:
        time.sleep(0.02)
        news = at.server.requests()
        seen += news
        moved = time.monotonic() if news else moved
        if victims and served(seen) >= victims[0][0] * WANTED:
            os.kill(victims.pop(0)[1], signal.SIGKILL)
    report.require(not victims, f"{served(seen)} of {WANTED} requests before anybody was killed")
    report.require(len(seen) >= WANTED * 0.9, f"{len(seen)} of {WANTED} requests")
    return seen + at.server.requests()


def figures(seen: list[Seen]) -> dict[str, Any]:
    return {
        "n": len(seen),
        "wanted": WANTED,
        "not_served": WANTED - served(seen),
        "repeated": len(seen) - served(seen),
        "violations": violations(seen, INTERVAL_S),
        "overlaps": overlaps(seen),
        "least_gap_ms": round(min(gaps(seen)) * 1000, 1),
    }


def rows(name: str, found: dict[str, Any]) -> list[report.Row]:
    n = found["n"]
    what = {"violations": "violations", "overlaps": "overlaps", "not_served": "requests not served"}
    made = [
        report.row(f"{text}, {name}", found[each], n=n, bar="<= 0") for each, text in what.items()
    ]
    least = f"least gap at one host, ms, interval 50, {name}"
    return [*made, report.row(least, found["least_gap_ms"], n=n, bar=f">= {INTERVAL_S * 1000:g}")]


def main() -> None:
    with own_stack(gateway=False, variables=_SETTINGS) as at:
        at.server.delay(20)
        calm = figures(crawl(at, 0, []))
        report.tell("undisturbed", calm)
        with at.healed() as started:
            disturbed = figures(crawl(at, HOSTS, victims_of(at)))
            restarted = list(started)
    disturbed["started_again"] = restarted
    report.tell("disturbed", disturbed)
    report.require("redis" in restarted, f"the store was not started again: {restarted}")
    made = [
        *rows(f"{HOSTS} busy hosts, 2 crawl workers", calm),
        *rows("while a worker is killed and Redis restarted", disturbed),
    ]
    report.finish(made, {"undisturbed": calm, "disturbed": disturbed})


if __name__ == "__main__":
    main()
