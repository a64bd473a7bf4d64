"""The peers that are Celery: the same broker, pool and settings as ours, with nothing of ours around them.

As a program it is the bare worker, `python -m celery -A bench.bare worker`: one task answers with a push, one only
counts, and one is the part of a chord, whose results the library keeps in its own store.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from celery import Celery, chord

from bench.place import popped, running, until
from infra.broker import broker_url
from infra.child import Child
from infra.redis import Redis, connect

PREFIX = "bare:"
QUEUE = "bare"


def make_app(url: str, *, results: bool = False) -> Celery:
    """The same transport settings as ours, so that the peer has no other advantage than doing nothing.

    results: with a result backend on the same store, which a chord cannot do without.
    """
    backend = url.replace("unix://", "redis+socket://", 1) if results else None
    app = Celery("bare", broker=broker_url(url), backend=backend, set_as_current=False)
    app.conf.update(
        broker_transport_options={"ack_emulation": False, "global_keyprefix": PREFIX},
        result_backend_transport_options={"global_keyprefix": PREFIX},
        broker_connection_retry_on_startup=True,
        task_serializer="json",
        accept_content=["json"],
        task_default_queue=QUEUE,
        worker_prefetch_multiplier=1,
        worker_disable_prefetch=True,
        worker_hijack_root_logger=False,
    )
    return app


app = make_app(os.environ.get("BENCH_REDIS_URL", "redis://127.0.0.1"), results=True)
_store = connect(os.environ.get("BENCH_REDIS_URL", "redis://127.0.0.1"))


@app.task(name="bare.reply", ignore_result=True)
def reply(key: str) -> None:
    _store.rpush(key, b"done")


@app.task(name="bare.nothing", ignore_result=True)
def nothing(key: str) -> None:
    _store.incr(key)


@app.task(name="bare.part")
def part(number: int) -> int:
    return number


@app.task(name="bare.join", ignore_result=True)
def join(parts: list[int], key: str) -> None:
    _store.rpush(key, str(len(parts)))


def send(sender: Celery, task: str, key: str) -> None:
    """Send a message as our bells are sent: no result, expiring."""
    sender.send_task(f"bare.{task}", args=[key], queue=QUEUE, expires=60, ignore_result=True)


def fan_out(sender: Celery, parts: int, key: str) -> Any:
    """Start a chord whose last task pushes to `key`; `sender` has results. Return what its starter holds."""
    header = [sender.signature("bare.part", args=[number]) for number in range(parts)]
    return chord(header, app=sender)(sender.signature("bare.join", args=[key], immutable=False))


@contextmanager
def _process(redis_url: str) -> Iterator[Child]:
    """Run a worker with the pool of our plan and reduce role, until it has answered a few times."""
    options = ["--pool", "prefork", "-c", "2", "-Q", QUEUE, "-n", "bare@%h"]
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "ERROR"]
    command = ["-m", "celery", "-A", "bench.bare", "worker", *options, *quiet]
    redis, sender = connect(redis_url), make_app(redis_url)
    with running("bare-worker", command, BENCH_REDIS_URL=redis_url) as child:
        for number in range(
            6
        ):  # the first waits for the worker to start, the others warm both processes
            send(sender, "reply", f"bare:warm:{number}")
            popped(redis, f"bare:warm:{number}", within_s=120)
        yield child
    sender.close()
    redis.close()


@contextmanager
def worker(redis_url: str) -> Iterator[Celery]:
    """Run a bare worker; yield a sender to it."""
    with _process(redis_url):
        sender = make_app(redis_url)
        yield sender
        sender.close()


def round_trip(sender: Celery, redis: Redis, key: str) -> float:
    """Return the seconds from send_task to the worker's reply."""
    began = time.perf_counter()
    send(sender, "reply", key)
    popped(redis, key)
    return time.perf_counter() - began


def drain(redis_url: str, count: int) -> float:
    """Return the seconds a worker takes for `count` tasks that only count, all of which wait when it begins."""
    redis, sender = connect(redis_url), make_app(redis_url)
    with _process(redis_url) as child:
        assert child.pid is not None
        os.kill(child.pid, signal.SIGSTOP)
        for _ in range(count):
            send(sender, "nothing", "bare:count")
        os.kill(child.pid, signal.SIGCONT)
        began = time.perf_counter()
        until(lambda: int(redis.get("bare:count") or 0) == count, "the bare tasks")
        spent = time.perf_counter() - began
    redis.delete("bare:count")
    sender.close()
    redis.close()
    return spent
