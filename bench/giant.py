"""Small jobs behind a giant: twenty jobs of ten URLs beside one of thousands at the same hosts, offered after it began.

Two crawlers with the raw client. A job's time runs from its offer to its last request at the server.

    python -m bench.giant [--quick]
"""

import time

from bench import report
from bench.arithmetic import Seen, middle, violations
from bench.place import INTERVAL_S, crawlers, raw_server, store
from bench.raw_client import host_name
from bench.requests import offer_all, offers
from infra.redis import Redis, connect

HOSTS = 50
GIANT_PAGES = report.size(120, 70)
SMALL_JOBS = 20
SMALL_URLS = 10


def offer_giant(redis: Redis) -> None:
    paths = [f"/giant/{number}" for number in range(GIANT_PAGES)]
    offered = [each for at in range(HOSTS) for each in offers(host_name(at), paths, job="giant")]
    offer_all(redis, offered)


def offer_small(redis: Redis) -> dict[str, float]:
    """Offer the small jobs, each its URLs at neighbouring hosts; return when each was offered."""
    offered_at = {}
    for number in range(SMALL_JOBS):
        job = f"small{number}"
        places = [(number * SMALL_URLS + at) % HOSTS for at in range(SMALL_URLS)]
        asked = [each for at in places for each in offers(host_name(at), [f"/{job}/x"], job=job)]
        offered_at[job] = time.monotonic()
        offer_all(redis, asked)
    return offered_at


def job_of(seen: Seen) -> str:
    return seen.path.split("/")[1]


def main() -> None:
    with raw_server() as server, store() as url, crawlers("raw", 2, url, server) as go:
        redis = connect(url)
        offer_giant(redis)
        go()
        seen = server.wait_for(HOSTS * 3)
        offered_at = offer_small(redis)
        left = HOSTS * GIANT_PAGES + SMALL_JOBS * SMALL_URLS - len(seen)
        seen += server.wait_for(left)
        redis.close()
    last = {job: max(each.start for each in seen if job_of(each) == job) for job in offered_at}
    small = [last[job] - offered_at[job] for job in offered_at]
    starts = [each.start for each in seen if job_of(each) == "giant"]
    giant = max(starts) - min(starts)
    figures = {
        "giant_urls": len(starts),
        "giant_s": round(giant, 2),
        "small_s_median": round(middle(small), 3),
        "small_s_most": round(max(small), 3),
        "violations": violations(seen, INTERVAL_S),
    }
    report.tell("giant", figures)
    rows = [
        report.row(
            f"small jobs behind a giant of {len(starts):,} URLs: slowest, s, against the giant's time",
            round(max(small), 3),
            n=SMALL_JOBS,
            peer=round(giant, 2),
            ratio=max(small) / giant,
            bar="<= 0.1",
        )
    ]
    report.finish(rows, figures)


if __name__ == "__main__":
    main()
