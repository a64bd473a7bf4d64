"""Which role of worker takes which queue: the one table that the stack, the command and the workers read."""

from typing import Literal, get_args

Role = Literal["crawl", "reduce", "all"]
Pool = Literal["threads", "prefork"]

ROLES: tuple[Role, ...] = get_args(Role)

QUEUES: dict[Role, tuple[str, ...]] = {
    "crawl": ("crawl",),
    "reduce": ("plan", "local"),
    "all": ("plan", "local", "crawl"),
}

# Planning and reducing are arithmetic and share a queue; crawling talks to the frontier; recalling reads files of the
# machine it runs on.
TASK_QUEUES: dict[str, str] = {
    "plan": "plan",
    "reduce": "plan",
    "recall": "local",
    "crawl": "crawl",
}

# What the message broker puts before its own keys, so that they never meet ours.
BROKER_PREFIX = "ss:mq:"

# Crawl tasks only offer requests to the frontier, so threads do; plan and reduce are arithmetic.
POOLS: dict[Role, Pool] = {"crawl": "threads", "reduce": "prefork", "all": "threads"}

CONCURRENCY: dict[Role, int] = {"crawl": 4, "reduce": 2, "all": 4}


def all_queues() -> tuple[str, ...]:
    """Return every queue that some role takes, in a fixed order."""
    return tuple(dict.fromkeys(queue for role in ROLES for queue in QUEUES[role]))
