"""A job of one source on an idle stack, from submission to result, beside a bare task and its reply.

The source's reply is cached, so that neither pace nor network counts: this is what queue, steps, planning and reducing
cost. Jobs and bare tasks take turns, on a worker pool of the same kind.

    python -m bench.job_latency [--quick]
"""

import time

from signal_search.client import Client

from bench import bare, report
from bench.arithmetic import in_ms
from bench.stacks import Place, shared_stack

JOBS = report.size(100, 40)
QUESTION = "How high is Mount Corvel?"
_WARM = 4


def measure(at: Place) -> tuple[list[float], list[float]]:
    """Return the seconds of each job and of each bare task."""
    jobs: list[float] = []
    tasks: list[float] = []
    with bare.worker(at.redis_url) as sender, Client(redis_url=at.redis_url) as client:
        for number in range(JOBS + _WARM):
            began = time.perf_counter()
            result = client.retrieve(QUESTION, sources=["wikipedia"])
            jobs.append(time.perf_counter() - began)
            report.require(result.findings, "a job that finds nothing")
            tasks.append(bare.round_trip(sender, at.redis, f"bare:reply:{number}"))
    return jobs[_WARM:], tasks[_WARM:]


def main() -> None:
    with shared_stack() as at:
        jobs, tasks = measure(at)
    ours, theirs = in_ms(jobs), in_ms(tasks)
    report.tell("job of one source", {"ours": ours, "bare": theirs})
    more = {name: round(ours[name] - theirs[name], 2) for name in ("p50_ms", "p99_ms")}
    name = "job of one source, idle stack, submit -> result"
    rows = [
        report.row(
            f"{name}: {part[:3]}, ms",
            ours[part],
            n=JOBS,
            peer=theirs[part],
            bar=bar,
            judged=more[part],
        )
        for part, bar in (("p50_ms", "<= 25 more"), ("p99_ms", ""))
    ]
    report.finish(rows, {"ours": ours, "bare_task_and_reply": theirs, "more": more})


if __name__ == "__main__":
    main()
