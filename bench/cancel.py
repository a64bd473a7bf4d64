"""Cancel: the time from the call to the last request that begins at the server, and how often a job's log ends.

Some jobs crawl sites that take 0.4 s for a page and are cancelled in the middle; one more is left alone, to show that
the others had far to go.

    python -m bench.cancel [--quick]
"""

import time

from signal_search.client import Client
from signal_search.client.request import build_request
from signal_search.contracts.trace import Ended

from bench import report
from bench.arithmetic import Seen
from bench.place import SITES
from bench.stacks import Place, drained, shared_stack

JOBS = report.size(10, 5)
SITES_EACH = 3
PAGES_BEFORE = 2  # of each site
DELAY_MS = 400
QUESTION = "When does the tide at the pier turn, and what follows it?"
_WATCH_S = 3.0


def sites_of(number: int) -> list[str]:
    return SITES[number * SITES_EACH : (number + 1) * SITES_EACH]


def submit(client: Client, number: int) -> str:
    sources = [f"site:http://{host}/" for host in sites_of(number)]
    return client.submit(build_request(QUESTION, None, None, depth="standard", sources=sources)).id


def measure(at: Place, client: Client) -> tuple[dict[int, float], list[Seen], list[int]]:
    """Return when each job was cancelled, all requests, and how many ends each job's log has."""
    jobs = [submit(client, number) for number in range(JOBS + 1)]
    enough = JOBS * SITES_EACH * (PAGES_BEFORE + 1)
    hosts = {host for number in range(JOBS) for host in sites_of(number)}
    seen = at.server.wait_for(enough, of=lambda each: each.host in hosts)
    cancelled: dict[int, float] = {}
    for number in range(JOBS):
        cancelled[number] = time.monotonic()
        client.cancel(jobs[number])
    time.sleep(_WATCH_S)
    drained(at)
    seen += at.server.requests()
    ends = [
        sum(isinstance(entry, Ended) for _id, entry in client.events(job)) for job in jobs[:JOBS]
    ]
    return cancelled, seen, ends


def main() -> None:
    with shared_stack() as at, Client(at.gateway) as client:
        at.server.delay(DELAY_MS)
        try:
            cancelled, seen, ends = measure(at, client)
        finally:
            at.server.delay(0)
    counts = [sum(each.host in sites_of(number) for each in seen) for number in range(JOBS + 1)]
    control = counts.pop()
    report.tell("requests", {"control": control, "cancelled": counts})
    report.require(control > max(counts), "the job that was left alone made no more requests")
    after = [
        max([each.start - moment for each in seen if each.host in sites_of(number)] + [0.0])
        for number, moment in cancelled.items()
    ]
    late = sum(each > 1.0 for each in after)
    figures = {"jobs": JOBS, "last_request_after_s": [round(each, 3) for each in after]}
    figures |= {"requests_control": [control], "requests": [float(each) for each in counts]}
    rows = [
        report.row(
            "cancel: last new request after it, s", round(max(after), 3), n=JOBS, bar="<= 1"
        ),
        report.row("cancel: jobs with a request later than 1 s", late, n=JOBS, bar="<= 0"),
        report.row(
            "cancel: jobs without exactly one terminal event",
            sum(each != 1 for each in ends),
            n=JOBS,
            bar="<= 0",
        ),
    ]
    report.finish(rows, figures)


if __name__ == "__main__":
    main()
