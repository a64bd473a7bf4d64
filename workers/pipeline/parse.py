"""From a raw reply to an outcome, in a process of its own that can be killed: parsers meet hostile bytes here."""

import asyncio
import multiprocessing
import resource
import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import lru_cache

import structlog
from msgspec.structs import replace
from signal_search.contracts.source import FetchOutcome, Request, SkipReason
from signal_search.errors import BadReply, Invalid

from infra.http import RawReply
from infra.settings import current
from workers.fetching.decoding import decoded
from workers.fetching.outcomes import fetched, missed, skipped, unreadable
from workers.fetching.parsing import extract, redact_parsed
from workers.registry import Registry


def parse_reply(request: Request, raw: RawReply) -> FetchOutcome:
    """Return what a reply holds, redacted: pages by the extractor, everything else by its adapter."""
    if request.kind == "page":
        outcome = extract(request, raw, current().fetch.product)
        return _registry().read_page(request, outcome)
    reply, charset = decoded(raw)
    try:
        parsed = _registry().parse(request, reply)
    except BadReply as error:
        return unreadable(request, raw, error)
    except Invalid as error:  # the source has left the configuration since
        return skipped(request, SkipReason.NOT_CONFIGURED, error.message, raw=raw)
    return replace(fetched(request, raw, redact_parsed(parsed)), decisions={"charset": charset})


_log = structlog.get_logger("workers.parse")

Parse = Callable[[Request, RawReply], FetchOutcome]


@lru_cache(maxsize=1)
def _registry() -> Registry:
    return Registry(current())


def read_sample() -> None:
    """Read a small page of our own, so that the libraries load their models before a host waits for them."""
    text = b"<p>The bridge is opened for ships at noon on every day of the week, and closed an hour later.</p>"
    body = (
        b"<html><head><title>Sample</title></head><body><article>%b</article></body></html>" % text
    )
    request = Request(url="http://localhost/", adapter="site", source_id="site:http://localhost/")
    raw = RawReply(
        url=request.url,
        status=200,
        headers={"content-type": "text/html"},
        body=body,
        fetched_at_ms=0,
        wire_bytes=len(body),
        cut=False,
    )
    parse_reply(request, raw)


# What a bug of ours or of a parser's may raise there; asking the source again would not help.
_BROKEN_PARSER = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    MemoryError,
)


class ParsePool:
    """A few processes that parse. One that takes too long is killed and replaced, one that takes too much fails."""

    def __init__(
        self, processes: int, timeout_s: float, parse: Parse = parse_reply, *, memory_mib: int = 0
    ) -> None:
        """Start no process yet; each imports the extractor once. `parse` runs there, so it must be importable.

        memory_mib: what each may hold at most; 0: no limit.
        """
        self._processes = processes
        self._memory_mib = memory_mib
        self._timeout_s = timeout_s
        self._parse = parse
        self._turns = asyncio.Semaphore(processes)
        self._pool = self._open()

    async def parse(self, request: Request, raw: RawReply) -> FetchOutcome:
        """Return what a reply holds; a parser that hangs or dies is a bad reply.

        Who waits for a process waits here, so that its time does not run and nobody is killed along with another.
        """
        loop = asyncio.get_running_loop()
        async with self._turns:
            pool = self._pool
            try:
                async with asyncio.timeout(self._timeout_s):
                    return await loop.run_in_executor(pool, self._parse, request, raw)
            except _BROKEN_PARSER:
                _log.exception("a parser broke")
                return missed(request, BadReply(), "the reply could not be parsed", raw=raw)
            except (TimeoutError, BrokenProcessPool):
                was_killed = pool is not self._pool  # with another reply's parser
                self._replace(pool)
        if was_killed:
            return await self.parse(request, raw)
        return missed(request, BadReply(), "the reply could not be parsed in time", raw=raw)

    async def warm(self) -> None:
        """Return when a process is ready to parse; a new one needs seconds for its first page."""
        with suppress(BrokenProcessPool):
            await asyncio.get_running_loop().run_in_executor(self._pool, read_sample)

    def close(self) -> None:
        """End the processes."""
        _kill(self._pool)

    def _open(self) -> ProcessPoolExecutor:
        # Spawned, not forked: the worker has threads and open connections.
        spawn = multiprocessing.get_context("spawn")
        limits = (self._memory_mib,)
        return ProcessPoolExecutor(
            self._processes, mp_context=spawn, initializer=_begin, initargs=limits
        )

    def _replace(self, pool: ProcessPoolExecutor) -> None:
        if pool is self._pool:
            self._pool = self._open()
        _kill(pool)


def _begin(memory_mib: int) -> None:
    # Ctrl-C reaches every process of a terminal; this one ends when its worker does, which first finishes its work.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit_memory(memory_mib)


def _limit_memory(mib: int) -> None:
    """Bound what this process may allocate: data, not address space, of which libraries map more than they use."""
    if mib:
        with suppress(ValueError, OSError):  # a stricter limit is there already, or none are known
            resource.setrlimit(resource.RLIMIT_DATA, (mib * 2**20, mib * 2**20))


def _kill(pool: ProcessPoolExecutor) -> None:
    for process in list((pool._processes or {}).values()):  # noqa: SLF001  no public way before 3.14
        process.kill()
    pool.shutdown(wait=False, cancel_futures=True)
