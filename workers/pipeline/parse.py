"""From a raw reply to an outcome, in a process of its own that can be killed: parsers meet hostile bytes here."""

import asyncio
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache

from signal_search.contracts.source import FetchOutcome, Request
from signal_search.errors import BadReply

from infra.http import RawReply
from infra.settings import current
from workers.fetching.decoding import as_reply
from workers.fetching.outcomes import fetched, missed
from workers.fetching.parsing import extract, redact_parsed
from workers.registry import Registry


def parse_reply(request: Request, raw: RawReply) -> FetchOutcome:
    """Return what a reply holds, redacted: pages by the extractor, everything else by its adapter."""
    if request.kind == "page":
        return extract(request, raw, current().fetch.product)
    try:
        parsed = _registry().parse(request, as_reply(raw))
    except BadReply as error:
        return missed(request, error, raw=raw)
    return fetched(request, raw, redact_parsed(parsed))


@lru_cache(maxsize=1)
def _registry() -> Registry:
    return Registry(current())


class ParsePool:
    """A few processes that parse. One that takes too long is killed and replaced."""

    def __init__(self, processes: int, timeout_s: float) -> None:
        """Start no process yet; each imports the extractor once."""
        self._processes = processes
        self._timeout_s = timeout_s
        self._pool = self._open()

    async def parse(self, request: Request, raw: RawReply) -> FetchOutcome:
        """Return what a reply holds; a parser that hangs or dies is a bad reply."""
        loop = asyncio.get_running_loop()
        pool = self._pool
        try:
            async with asyncio.timeout(self._timeout_s):
                return await loop.run_in_executor(pool, parse_reply, request, raw)
        except (TimeoutError, BrokenProcessPool):
            self._replace(pool)
            return missed(request, BadReply(), "the reply could not be parsed in time", raw=raw)

    def close(self) -> None:
        """End the processes."""
        _kill(self._pool)

    def _open(self) -> ProcessPoolExecutor:
        # Spawned, not forked: the worker has threads and open connections.
        return ProcessPoolExecutor(self._processes, mp_context=multiprocessing.get_context("spawn"))

    def _replace(self, pool: ProcessPoolExecutor) -> None:
        if pool is self._pool:
            self._pool = self._open()
        _kill(pool)


def _kill(pool: ProcessPoolExecutor) -> None:
    for process in list((pool._processes or {}).values()):  # noqa: SLF001  no public way before 3.14
        process.kill()
    pool.shutdown(wait=False, cancel_futures=True)
