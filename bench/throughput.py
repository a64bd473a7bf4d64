"""Jobs per second of four instant sources through one reduce worker, beside bare no-op tasks per second of that worker.

The sources' replies are cached before; the jobs are accepted while the workers stand still, so that only the draining
is timed. The peer drains a queue of no-op tasks with the same pool.

    python -m bench.throughput [--quick]
"""

import time

from signal_search.client import Client
from signal_search.client.request import build_request

from bench import bare, report
from bench.stacks import Place, drained, shared_stack, standing_still
from infra.job_store import JobStore

JOBS = report.size(80, 30)
TASKS = report.size(2000, 600)
QUESTION = "How high is Mount Corvel?"
SOURCES = ["wikipedia", "arxiv", "crossref", "europepmc"]


def drain_jobs(at: Place) -> float:
    """Return the seconds in which the accepted jobs ended."""
    request = build_request(QUESTION, None, None, depth="standard", sources=SOURCES)
    with Client(at.gateway) as client:
        for names in (
            *([each] for each in SOURCES),
            SOURCES,
        ):  # a job may end before all have replied
            client.retrieve(QUESTION, depth="standard", sources=names)
        drained(at)
        asked = len(at.web_requests())
        with standing_still(at.pids("worker")):
            accepted = [client.submit(request).id for _ in range(JOBS)]
            began_ms = time.time_ns() // 1_000_000
        drained(at)
    more = len(at.web_requests()) - asked
    report.require(more <= len(SOURCES), f"{more} requests to sources whose replies were cached")
    store = JobStore(at.redis)
    ended = [store.get(each) for each in accepted]
    report.require(all(each and each.finished_at_ms for each in ended), "a job did not end")
    return (max(each.finished_at_ms or 0 for each in ended if each) - began_ms) / 1000


def main() -> None:
    with shared_stack() as at:
        jobs_s = drain_jobs(at)
        tasks_s = bare.drain(at.redis_url, TASKS)
    ours, peer = JOBS / jobs_s, TASKS / tasks_s
    report.tell("throughput", {"jobs_per_second": ours, "bare_tasks_per_second": peer})
    rows = [
        report.row(
            "jobs a second of 4 instant sources, one reduce worker, against no-op tasks",
            round(ours, 1),
            n=JOBS,
            peer=round(peer),
            ratio=ours / peer,
        )
    ]
    figures = {"jobs": JOBS, "jobs_s": jobs_s, "bare_tasks": TASKS, "bare_tasks_s": tasks_s}
    report.finish(rows, figures)


if __name__ == "__main__":
    main()
