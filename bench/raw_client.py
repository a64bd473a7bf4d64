"""HTTP over bare asyncio streams: the client that ours is compared with, and the fetchers that know no queue.

As a program it is one bare fetcher process: it reads pages of its share of the hosts, each host at its interval.

    python -m bench.raw_client PORT HOSTS PAGES INTERVAL_S SHARE OF START
"""

import asyncio
import sys
import time
from collections import defaultdict

import uvloop

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def host_name(number: int) -> str:
    return f"h{number}.bench.test"


async def exchange(streams: Streams, request: bytes) -> tuple[int, bytes]:
    """One request over an open connection; the reply must have a Content-Length."""
    reader, writer = streams
    writer.write(request)
    head = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
    lengths = [
        int(line.split(b":")[1]) for line in head if line.lower().startswith(b"content-length:")
    ]
    return int(head[0].split(b" ")[1]), await reader.readexactly(lengths[0] if lengths else 0)


def get(host: str, path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()


class RawClient:
    """Connections to one server, kept open by host name."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: dict[str, list[Streams]] = defaultdict(list)

    async def fetch(self, host: str, path: str) -> tuple[int, bytes]:
        idle = self._idle[host]
        streams = idle.pop() if idle else await asyncio.open_connection("127.0.0.1", self._port)
        answer = await exchange(streams, get(host, path))
        idle.append(streams)
        return answer


async def crawl(port: int, hosts: list[str], pages: int, interval_s: float) -> None:
    """Read `pages` pages of every host, each host at its interval."""
    client = RawClient(port)

    async def one(host: str) -> None:
        for number in range(pages):
            await client.fetch(host, f"/bare/{number}")
            await asyncio.sleep(interval_s)

    await asyncio.gather(*(one(host) for host in hosts))


async def post_many(port: int, path: str, bodies: list[bytes], connections: int) -> dict[int, int]:
    """Post every body over some open connections. Return the answers by status."""
    waiting = iter(bodies)
    statuses: dict[int, int] = defaultdict(int)

    async def one() -> None:
        streams = await asyncio.open_connection("127.0.0.1", port)
        for body in waiting:
            head = (
                f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n"
            )
            status, _body = await exchange(streams, head.encode() + body)
            statuses[status] += 1
        streams[1].close()

    await asyncio.gather(*(one() for _ in range(connections)))
    return dict(statuses)


async def main(arguments: list[str]) -> None:
    port, hosts, pages, interval_s, share, of, start = arguments
    mine = [host_name(number) for number in range(int(share), int(hosts), int(of))]
    await asyncio.sleep(float(start) - time.monotonic())
    await crawl(int(port), mine, int(pages), float(interval_s))


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1:]))
