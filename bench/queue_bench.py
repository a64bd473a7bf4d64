"""The queue, the frontier and the ledger beside their bare peers, all in one run on one store.

Every ratio has its peer measured next to it in the same run, so it can be compared between machines; a time cannot.
Prints one JSON document; a line per figure on stderr. About a minute and a half.

    python -m bench.queue_bench
"""

import asyncio
import json
import os
import signal
import sys
import time
from collections import defaultdict
from itertools import pairwise
from typing import Any

from signal_search.client import Client
from signal_search.contracts.budget import Dimension
from signal_search.contracts.source import Request

from bench import bare
from bench.place import BUSY, HOSTS, INTERVAL_S, Place, place, process
from budget.frontier import Offer
from budget.redis_frontier import RedisFrontier
from budget.redis_ledger import RedisLedger
from infra.broker import broker_url
from infra.redis import Redis
from workers.fetching.cache import fingerprint, host_key
from workers.pipeline.encoding import encode_request

PAGES = 4
BUSY_PAGES = 11
JOBS = 60
SUBMISSIONS = 400
RESERVATIONS = 1000
QUESTION = b'{"query":"How high is Mount Corvel?"}'


def tell(name: str, figures: dict[str, Any]) -> dict[str, Any]:
    print(f"{name}: {json.dumps(figures)}", file=sys.stderr)
    return figures


def submissions(at: Place) -> dict[str, Any]:
    """Submissions per second that the gateway accepts while the workers stand still, against bare messages."""
    sender = bare.make_app(broker_url(at.stack.redis_url))
    bare.send(sender, "warm")
    began = time.perf_counter()
    for number in range(SUBMISSIONS):
        bare.send(sender, f"none:{number}")
    bare_s = time.perf_counter() - began
    sender.close()
    for pid in at.workers():
        os.kill(pid, signal.SIGSTOP)
    try:
        posted = bare.post_many(at.port, "/v1/retrieve", [QUESTION] * SUBMISSIONS, 8)
        ours_s, statuses = asyncio.run(posted)
    finally:
        for pid in at.workers():
            os.kill(pid, signal.SIGCONT)
    accepted = statuses.get(202, 0)
    ours, theirs = accepted / ours_s, SUBMISSIONS / bare_s
    return tell(
        "submissions",
        {
            "n": SUBMISSIONS,
            "accepted": accepted,
            "per_second": round(ours),
            "bare_send_task_per_second": round(theirs),
            "ratio": round(ours / theirs, 2),
        },
    )


def bare_round_trips(at: Place) -> list[float]:
    """Seconds from send_task to the worker's reply, on a prefork worker as ours for plan and reduce."""
    url = broker_url(at.stack.redis_url)
    command = [sys.executable, "-m", "celery", "-A", "bench.bare", "worker", "--pool", "prefork"]
    options = ["-c", "2", "-Q", "bare", "-n", "bare@%h", "--without-gossip", "--without-mingle"]
    sender, seconds = bare.make_app(url), []
    with process([*command, *options], BENCH_BROKER_URL=url, BENCH_REDIS_URL=at.stack.redis_url):
        for number in range(JOBS + 4):  # the first ones wait for the worker to start, and warm it
            began = time.perf_counter()
            bare.send(sender, f"reply:{number}")
            at.redis.blpop([f"reply:{number}"], timeout=30)
            seconds.append(time.perf_counter() - began)
    sender.close()
    return seconds[4:]


def job_latency(at: Place) -> dict[str, Any]:
    """A job of one source whose reply is cached, on an idle stack: what the queue itself costs, over Redis."""
    seconds = []
    with Client(redis_url=at.stack.redis_url) as client:
        for _ in range(JOBS + 3):
            began = time.perf_counter()
            client.retrieve("How high is Mount Corvel?", sources=["wikipedia"])
            seconds.append(time.perf_counter() - began)
    ours, theirs = bare.quantiles(seconds[3:]), bare.quantiles(bare_round_trips(at))
    more = {name: round(ours[name] - theirs[name], 2) for name in ("p50_ms", "p99_ms")}
    return tell("job of one source", {"ours": ours, "bare_task_and_reply": theirs, "more": more})


def reservations(at: Place) -> dict[str, Any]:
    """Reserve and settle over three levels and two dimensions, against a round trip of INCRBY."""
    ledger = RedisLedger(at.redis)
    levels = ("job:bench", "tenant:bench", "bench-deployment")
    cost = {Dimension.TOKENS: 10, Dimension.FETCHES: 1}
    for level in levels:
        ledger.open(level, dict.fromkeys(cost, 10**9), ttl_ms=600_000)
    began = time.perf_counter()
    for _ in range(RESERVATIONS):
        at.redis.incrby("bench:counter", 1)
    incrby_s = time.perf_counter() - began
    began = time.perf_counter()
    for number in range(RESERVATIONS):
        ledger.reserve(f"bench|{number}", levels, cost, lease_ms=60_000)
    reserve_s = time.perf_counter() - began
    began = time.perf_counter()
    for number in range(RESERVATIONS):
        ledger.settle(f"bench|{number}", cost)
    settle_s = time.perf_counter() - began
    return tell(
        "reserve and settle",
        {
            "n": RESERVATIONS,
            "incrby_per_second": round(RESERVATIONS / incrby_s),
            "reserve_per_second": round(RESERVATIONS / reserve_s),
            "settle_per_second": round(RESERVATIONS / settle_s),
            "reserve_ratio": round(incrby_s / reserve_s, 2),
            "settle_ratio": round(incrby_s / settle_s, 2),
            "spent_exactly": ledger.balance(levels[0]).used
            == {k: v * RESERVATIONS for k, v in cost.items()},
        },
    )


def offers(host: str, pages: int) -> list[Offer]:
    deadline_ms = time.time_ns() // 1_000_000 + 600_000
    asked = [
        Request(url=f"http://{host}/{page}", adapter="site", source_id=f"site:http://{host}/")
        for page in range(pages)
    ]
    return [
        Offer(
            uid=fingerprint(each),
            host=host_key(each.url),
            payload=encode_request(each),
            job="bench",
            waiter=f"bench|{each.url}",
            deadline_ms=deadline_ms,
            pause_ms=int(INTERVAL_S * 1000),
        )
        for each in asked
    ]


def wait_for_requests(at: Place, wanted: int) -> list[tuple[float, str, str]]:
    seen: list[tuple[float, str, str]] = []
    ends = time.monotonic() + 60
    while len(seen) < wanted and time.monotonic() < ends:
        time.sleep(0.1)
        seen += at.requests()
    return seen


def violations(seen: list[tuple[float, str, str]], interval_s: float) -> int:
    by_host: dict[str, list[float]] = defaultdict(list)
    for began, host, _path in seen:
        by_host[host].append(began)
    return sum(b - a < interval_s for each in by_host.values() for a, b in pairwise(sorted(each)))


def scripts_run(redis: Redis) -> int:
    """Return how many scripts the store has run since its counters were reset: round trips of frontier and jobs."""
    found: dict[str, Any] = dict(redis.info("commandstats"))
    return sum(
        int(found.get(f"cmdstat_{name}", {"calls": 0})["calls"]) for name in ("evalsha", "eval")
    )


def crawl(at: Place) -> dict[str, Any]:
    """Fetches per second over many hosts: robots.txt, page, extraction, redaction, delivery; against bare asyncio."""
    wanted = len(HOSTS) * (PAGES + 1)
    bare_s = asyncio.run(bare.crawl(at.raw_port, HOSTS, PAGES, INTERVAL_S))
    theirs = at.requests()
    at.redis.config_resetstat()
    RedisFrontier(at.redis).offer([each for host in HOSTS for each in offers(host, PAGES)])
    seen = wait_for_requests(at, wanted)
    span_s = max(row[0] for row in seen) - min(row[0] for row in seen)
    scripts = scripts_run(at.redis)
    ours = len(seen) / span_s
    return tell(
        "frontier",
        {
            "hosts": len(HOSTS),
            "interval_s": INTERVAL_S,
            "n": len(seen),
            "wanted": wanted,
            "fetches_per_second": round(ours),
            "bare_fetches_per_second": round(len(theirs) / bare_s),
            "ratio": round(ours / (len(theirs) / bare_s), 3),
            "violations": violations(seen, INTERVAL_S),
            "bare_violations": violations(theirs, INTERVAL_S),
            "scripts_per_fetch": round(scripts / len(seen), 2),
        },
    )


def busy_host(at: Place) -> dict[str, Any]:
    """One host at one second: how much longer than the interval allows."""
    RedisFrontier(at.redis).offer(offers(BUSY, BUSY_PAGES))
    seen = wait_for_requests(at, BUSY_PAGES + 1)
    pages = sorted(began for began, _host, path in seen if path != "/robots.txt")
    use = (pages[-1] - pages[0]) / (len(pages) - 1)
    figures = {"n": len(pages), "interval_s": 1.0, "time_over_least": round(use, 4)}
    return tell("busy host", {**figures, "violations": violations(seen[1:], 1.0)})


def main() -> None:
    began = time.perf_counter()
    with place() as at:
        figures = {
            "reserve_and_settle": reservations(at),
            "job_of_one_source": job_latency(at),
            "frontier": crawl(at),
            "busy_host": busy_host(at),
            "submissions": submissions(at),
        }
        at.redis.close()
    print(json.dumps({**figures, "seconds": round(time.perf_counter() - began)}, indent=1))


if __name__ == "__main__":
    main()
