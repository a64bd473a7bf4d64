"""The peers of the queue's figures: Celery, Redis and asyncio with nothing of ours around them.

As a program it is the bare worker: `python -m celery -A bench.bare worker`; it answers each message with one push.
"""

import asyncio
import os
import time
from typing import Any

import redis
from celery import Celery

PREFIX = "bare:"


def make_app(url: str) -> Celery:
    """The same transport settings as ours, so that the peer has no other advantage than doing nothing."""
    app = Celery("bare", broker=url, set_as_current=False)
    app.conf.update(
        broker_transport_options={"ack_emulation": False, "global_keyprefix": PREFIX},
        broker_connection_retry_on_startup=True,
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        worker_prefetch_multiplier=1,
        worker_disable_prefetch=True,
    )
    return app


app = make_app(os.environ.get("BENCH_BROKER_URL", ""))
_store = redis.Redis.from_url(os.environ.get("BENCH_REDIS_URL", "redis://127.0.0.1"))


@app.task(name="bare.reply")
def answer(key: str) -> None:
    _store.rpush(key, b"done")


def send(sender: Celery, key: str) -> None:
    sender.send_task("bare.reply", args=[key], queue="bare", expires=60, ignore_result=True)


async def exchange(
    streams: tuple[asyncio.StreamReader, asyncio.StreamWriter], request: bytes
) -> tuple[int, bytes]:
    """One request over an open connection; the reply must have a Content-Length."""
    reader, writer = streams
    writer.write(request)
    head = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
    lengths = [
        int(line.split(b":")[1]) for line in head if line.lower().startswith(b"content-length:")
    ]
    return int(head[0].split(b" ")[1]), await reader.readexactly(lengths[0] if lengths else 0)


async def crawl(port: int, hosts: list[str], pages: int, interval_s: float) -> float:
    """Read robots.txt and `pages` pages of every host, each host at its interval. Return the seconds it took."""

    async def one(host: str) -> None:
        streams = await asyncio.open_connection("127.0.0.1", port)
        for path in ("/robots.txt", *(f"/{number}" for number in range(pages))):
            request = f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
            await exchange(streams, request)
            await asyncio.sleep(interval_s)
        streams[1].close()

    began = time.perf_counter()
    await asyncio.gather(*(one(host) for host in hosts))
    return time.perf_counter() - began


async def post_many(
    port: int, path: str, bodies: list[bytes], connections: int
) -> tuple[float, dict[int, int]]:
    """Post every body over some open connections. Return the seconds it took and the answers by status."""
    waiting = iter(bodies)
    statuses: dict[int, int] = {}

    async def one() -> None:
        streams = await asyncio.open_connection("127.0.0.1", port)
        for body in waiting:
            head = (
                f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n"
            )
            status, _body = await exchange(streams, head.encode() + body)
            statuses[status] = statuses.get(status, 0) + 1
        streams[1].close()

    began = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(connections)))
    return time.perf_counter() - began, statuses


def quantiles(seconds: list[float]) -> dict[str, Any]:
    """n, p50 and p99 in milliseconds."""
    ordered = sorted(seconds)
    at = [ordered[min(len(ordered) - 1, int(len(ordered) * share))] for share in (0.5, 0.99)]
    return {"n": len(ordered), "p50_ms": round(at[0] * 1000, 2), "p99_ms": round(at[1] * 1000, 2)}
