"""Politeness while a worker is killed and the store is restarted: gaps at the server, and whether everything is served.

A real stack reads robots.txt and pages of many hosts from a server that takes 20 ms for each. In the middle one crawl
worker is killed (-9), later the store (-9), which comes back with what its append-only file holds; the stack's own
supervisor starts both again. A request may be made twice then, but never too early.

    python -m bench.disturbed [--quick]
"""

import os
import signal
import time

from bench import report
from bench.arithmetic import Seen, gaps, overlaps, violations
from bench.place import INTERVAL_S
from bench.raw_client import host_name
from bench.requests import offer_all, offers
from bench.stacks import Place, own_stack

HOSTS = report.size(80, 60)
PAGES = report.size(12, 9)
PATHS = [f"/disturbed/{number}" for number in range(PAGES)]
WANTED = HOSTS * (PAGES + 1)  # robots.txt too
WORKER_KILLED_AT, STORE_KILLED_AT = 0.25, 0.55
_PATIENCE_S = 30.0  # ten leases: what was not asked for by then never will be
_SETTINGS = {"SIGNAL_SEARCH_FRONTIER__LEASE_S": "3", "SIGNAL_SEARCH_QUEUE__LEASE_S": "4"}


def served(seen: list[Seen]) -> int:
    """Return how many different requests were answered."""
    return len({(each.host, each.path) for each in seen})


def follow(at: Place) -> list[Seen]:
    """Watch the crawl until all is served or nothing more comes, disturb it on the way; return the server's log."""
    [worker] = at.pids("worker-crawl1")
    store = int(at.redis.info("server")["process_id"])
    victims = [(WORKER_KILLED_AT, worker), (STORE_KILLED_AT, store)]
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
    return seen + at.server.requests()


def main() -> None:
    with own_stack(gateway=False, **_SETTINGS) as at, at.healed() as started:
        at.server.delay(20)
        offered = [each for number in range(HOSTS) for each in offers(host_name(number), PATHS)]
        offer_all(at.redis, offered)
        time.sleep(1.2)  # the append-only file is written through each second
        seen = follow(at)
        restarted = list(started)
    report.require("redis" in restarted, f"the store was not started again: {restarted}")
    figures = {
        "n": len(seen),
        "wanted": WANTED,
        "served": served(seen),
        "repeated": len(seen) - served(seen),
        "violations": violations(seen, INTERVAL_S),
        "overlaps": overlaps(seen),
        "least_gap_ms": round(min(gaps(seen)) * 1000, 1),
        "started_again": restarted,
    }
    report.tell("disturbed", figures)
    name = "while a worker is killed and Redis restarted"
    rows = [
        report.row(f"{what}, {name}", figures[what], n=len(seen), bar="<= 0")
        for what in ("violations", "overlaps")
    ]
    missing = WANTED - served(seen)
    rows.append(report.row(f"requests not served, {name}", missing, n=WANTED, bar="<= 0"))
    report.finish(rows, figures)


if __name__ == "__main__":
    main()
