"""Submissions that the gateway accepts, per second and per second of its processor time, beside bare send_task.

The workers stand still meanwhile, so that one thing is measured. The gateway's processor time is the kernel's count for
its processes; the peer's is the sender's own.

    python -m bench.gateway [--quick]
"""

import asyncio
import json
import time

from bench import bare, report
from bench.processes import cpu_s
from bench.raw_client import post_many
from bench.stacks import Place, drained, shared_stack, standing_still

SUBMISSIONS = report.size(600, 300)
CONNECTIONS = 8
QUESTION = (
    b'{"query":"How high is Mount Corvel?","constraints":{"source_prefs":{"only":["wikipedia"]}}}'
)


def send_bare(at: Place) -> dict[str, float]:
    """Send bare messages that nobody takes; return seconds of the wall and of this process's processor."""
    sender = bare.make_app(at.redis_url)
    for number in range(20):
        bare.send(sender, "nothing", f"bare:none:{number}")
    wall, used = time.perf_counter(), time.process_time()
    for number in range(SUBMISSIONS):
        bare.send(sender, "nothing", f"bare:none:{number}")
    spent = {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - used}
    sender.close()
    at.redis.delete(f"{bare.PREFIX}{bare.QUEUE}")
    return spent


def submit(at: Place, count: int) -> dict[str, float]:
    """Post `count` submissions; return seconds of the wall and of the gateway's processor."""
    [gateway] = at.pids("gateway")
    used, wall = cpu_s(gateway), time.perf_counter()
    statuses = asyncio.run(
        post_many(at.ports["gateway"], "/v1/retrieve", [QUESTION] * count, CONNECTIONS)
    )
    spent = {"wall_s": time.perf_counter() - wall, "cpu_s": cpu_s(gateway) - used}
    report.require(statuses == {202: count}, f"answers by status: {json.dumps(statuses)}")
    return spent


def main() -> None:
    with shared_stack() as at:
        with standing_still(at.pids("worker")):
            submit(at, 50)
            theirs, ours = send_bare(at), submit(at, SUBMISSIONS)
        drained(at)
    report.tell("gateway", {"ours": ours, "bare": theirs})
    rows = []
    for part, what, bar in (
        ("cpu_s", "a second of its processor", ">= 0.5"),
        ("wall_s", "a second of the wall", ""),
    ):
        mine, peer = SUBMISSIONS / ours[part], SUBMISSIONS / theirs[part]
        rows.append(
            report.row(
                f"gateway: submissions accepted in {what}",
                round(mine),
                n=SUBMISSIONS,
                peer=round(peer),
                ratio=mine / peer,
                bar=bar,
            )
        )
    report.finish(rows, {"n": SUBMISSIONS, "ours": ours, "bare_send_task": theirs})


if __name__ == "__main__":
    main()
