"""Identical requests from any number of jobs: how often the server is asked for each.

All jobs ask the same question of one site that takes 0.2 s for a page, at the same time; later ones find the replies in
the cache or join what is in flight.

    python -m bench.single_flight [--quick]
"""

from collections import Counter

from signal_search.client import Client
from signal_search.client.request import build_request
from signal_search.contracts.result import Result

from bench import report
from bench.place import SITES
from bench.stacks import drained, shared_stack

JOBS = report.size(50, 20)
HOST = SITES[-1]
DELAY_MS = 200
QUESTION = "When does the tide at the pier turn, and what follows it?"


def main() -> None:
    request = build_request(QUESTION, None, None, depth="quick", sources=[f"site:http://{HOST}/"])
    with shared_stack() as at, Client(at.gateway) as client:
        at.server.delay(DELAY_MS)
        try:
            jobs = [client.submit(request).id for _ in range(JOBS)]
            drained(at)
        finally:
            at.server.delay(0)
        seen = [each for each in at.server.requests() if each.host == HOST]
        results = [client.result(job) for job in jobs]
    answered = sum(isinstance(each, Result) and bool(each.findings) for each in results)
    report.require(answered == JOBS, f"{answered} of {JOBS} jobs found something")
    asked = Counter(each.path for each in seen)
    figures = {"jobs": JOBS, "requests": len(seen), "different": len(asked)}
    report.tell("single flight", figures)
    name = f"fetches of one request that {JOBS} jobs made (most)"
    rows = [report.row(name, max(asked.values()), n=len(asked), bar="<= 1")]
    report.finish(rows, figures)


if __name__ == "__main__":
    main()
