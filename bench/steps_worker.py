"""A worker whose steps do nothing: the product's ledger of steps and its Celery settings, without retrieval.

`JOB/crawl/N` is a part: it notes its number and rings `JOB/reduce`, which pushes how many parts there are once all are.
As a program it is the worker: `python -m celery -A bench.steps_worker worker`.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache

from celery import Celery

from bench.place import popped, running
from infra.broker import broker_url
from infra.settings import load
from workers.celery_app import make_app
from workers.pipeline.attempt import Leave, Next, Rest, Step, attempt
from workers.toolbox import Toolbox, open_toolbox

_QUEUE = "bench-steps"
_RECHECK_MS = 5000
_TTL_S = 600


def _make_app(redis_url: str) -> Celery:
    return make_app(load(redis_url=redis_url, broker_url=broker_url(redis_url)))


app = _make_app(os.environ.get("BENCH_REDIS_URL", "redis://127.0.0.1"))


def _bell(sender: Celery) -> Callable[[str, str], None]:
    """Return a bell that is the product's but for its tasks' names and their queue."""

    def ring(task: str, step_id: str) -> None:
        sender.send_task(
            f"bench.{task}", args=[step_id], queue=_QUEUE, expires=60, ignore_result=True
        )

    return ring


@lru_cache(maxsize=1)
def _tools() -> Toolbox:
    settings = load(redis_url=os.environ["BENCH_REDIS_URL"])
    return open_toolbox(settings, _bell(app))


@app.task(name="bench.crawl")
def crawl(step_id: str) -> None:
    attempt(_tools(), step_id, _part)


@app.task(name="bench.reduce")
def reduce(step_id: str) -> None:
    attempt(_tools(), step_id, _join)


def _part(tools: Toolbox, step: Step) -> Next:
    job, _crawl, number = step.id.split("/")
    tools.redis.hset(f"{job}:parts", number, 1)
    tools.ring(f"{job}/reduce")
    return Leave()


def _join(tools: Toolbox, step: Step) -> Next:
    job = step.job_id
    wanted, found = tools.redis.get(f"{job}:wanted"), tools.redis.hlen(f"{job}:parts")
    if found < int(wanted or 0):
        return Rest(_RECHECK_MS)
    tools.redis.rpush(job, found)
    return Leave()


@contextmanager
def worker(redis_url: str) -> Iterator[Callable[[int, str], None]]:
    """Run the worker; yield what starts a fan-out of so many parts, joined by a push to a key."""
    options = ["--pool", "prefork", "-c", "2", "-Q", _QUEUE, "-n", "steps@%h"]
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "ERROR"]
    command = ["-m", "celery", "-A", "bench.steps_worker", "worker", *options, *quiet]
    sender = _make_app(redis_url)
    tools = open_toolbox(load(redis_url=redis_url), _bell(sender))

    def start(parts: int, job: str) -> None:
        tools.redis.set(f"{job}:wanted", parts, ex=_TTL_S)
        tools.start([*(f"{job}/crawl/{number}" for number in range(parts)), f"{job}/reduce"])

    with running("steps-worker", command, BENCH_REDIS_URL=redis_url):
        start(1, "bench:warm")
        popped(tools.redis, "bench:warm", within_s=120)
        yield start
    sender.close()
    tools.redis.close()
