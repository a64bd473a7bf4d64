"""A whole job in one process: the real steps, the real fetchers, a real store; the bells are a list.

The web is whatever `loopback.hosts` names. Pages are parsed in this process.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import msgspec
import pytest
import zstandard
from redis import Redis
from signal_search.contracts.job import AnyRequest
from signal_search.contracts.outcome import AnyResult, decode_result
from signal_search.contracts.query import Constraints, RetrieveRequest, SourcePrefs, Tier
from signal_search.contracts.result import Result
from signal_search.contracts.source import FetchOutcome, Request
from signal_search.contracts.trace import Entry

from api_gateway.specs import spec_of
from infra.clock import Clock
from infra.http import RawReply
from infra.settings import Settings, current, load
from tests.fakes.builders import a_job
from workers.fetch_loop import Fetchers
from workers.pipeline.attempt import Work, attempt
from workers.pipeline.crawl import crawl
from workers.pipeline.exchange import Exchanges
from workers.pipeline.parse import _registry, parse_reply
from workers.pipeline.plan import plan
from workers.pipeline.recall import recall
from workers.pipeline.reduce import reduce
from workers.toolbox import Toolbox, open_toolbox

WORK: dict[str, Work] = {"plan": plan, "crawl": crawl, "recall": recall, "reduce": reduce}
_ZSTD = b"\x28\xb5\x2f\xfd"
_PATIENCE_S = 50.0  # most of a test's minute: a busy machine may need it, and any other never does


class OwnPool:
    """Parses here, without a process of its own."""

    async def warm(self) -> None:
        """Nothing to start."""

    async def parse(self, request: Request, raw: RawReply) -> FetchOutcome:
        return parse_reply(request, raw)

    def close(self) -> None:
        """Nothing to end."""


def settings_for(redis_url: str, hosts: dict[str, str], **changes: Any) -> Settings:
    return load(
        **changes,
        redis_url=redis_url,
        loopback={"only": True, "hosts": hosts},
        politeness={"loopback_interval_s": 0.02},
        fetch={"clients": 2, "concurrency": 8},
    )


@contextmanager
def configured(monkeypatch: pytest.MonkeyPatch, **sources: object) -> Iterator[None]:
    """Set `sources.*` in the environment, for the parsers too, which read their own settings once per process."""
    for name, value in sources.items():
        variable = f"SIGNAL_SEARCH_SOURCES__{name.upper()}"
        monkeypatch.setenv(variable, msgspec.json.encode(value).decode())
    _forget()
    try:
        yield
    finally:
        _forget()


def _forget() -> None:
    current.cache_clear()
    _registry.cache_clear()


class LateClock:
    """The store's time, and as much later as a test wants it to be for the steps."""

    def __init__(self, inner: Clock) -> None:
        self._inner = inner
        self.late_ms = 0

    def now_ms(self) -> int:
        return self._inner.now_ms() + self.late_ms

    def monotonic(self) -> float:
        return self._inner.monotonic()


class Walk:
    """One process that plays every worker."""

    def __init__(self, settings: Settings) -> None:
        self.bells: list[tuple[str, str]] = []
        self.meanwhile: Callable[[], None] = lambda: None  # done between steps
        opened = open_toolbox(settings, lambda *bell: self.bells.append(bell))
        self.clock = LateClock(opened.clock)
        self.tools: Toolbox = replace(opened, clock=self.clock)

    def ask(self, query: str, *only: str, job_id: str = "job_1", tier: Tier | None = None) -> None:
        """Submit a question to these sources. At L0 the first page that answers ends the job: name a `tier` above it
        where a test needs what several pages say.
        """
        now_ms = self.tools.clock.now_ms()
        wanted = Constraints(source_prefs=SourcePrefs(only=only), required_tier=tier)
        request = RetrieveRequest(query=query, constraints=wanted)
        spec = a_job(id=job_id, request=request, created_at_ms=now_ms, deadline_ms=now_ms + 60_000)
        self.tools.store.create(spec)
        self.tools.start([f"{job_id}/plan"])

    def submit(
        self, request: AnyRequest, job_id: str = "job_1", *, deadline_s: float = 60.0
    ) -> None:
        """Submit a job of the kind that the request is of."""
        now_ms = self.tools.clock.now_ms()
        spec = spec_of(
            request,
            id=job_id,
            tenant="local",
            created_at_ms=now_ms,
            deadline_ms=now_ms + int(deadline_s * 1000),
            result_ttl_s=600,
        )
        self.tools.store.create(spec)
        self.tools.start([f"{job_id}/plan"])

    def pass_the_deadline(self, job_id: str = "job_1") -> None:
        """Let the job's deadline be over for its steps, once; what is in flight is not waited for at the end."""
        stored = self.tools.store.get(job_id)
        assert stored is not None
        if not self.clock.late_ms:
            self.clock.late_ms = stored.spec.deadline_ms - stored.spec.created_at_ms
            self.bells.append(("reduce", f"{job_id}/reduce"))

    def play(self, job_id: str = "job_1") -> None:
        """Play until the job is over."""
        asyncio.run(self._play([job_id]))

    def outcome(self, job_id: str = "job_1") -> AnyResult:
        """Play until the job is over, and return its result of whatever kind."""
        asyncio.run(self._play([job_id]))
        found = self.tools.store.result(job_id)
        self.tools.redis.close()
        assert found is not None
        return decode_result(found)

    async def _play(self, jobs: Iterable[str]) -> None:
        exchanges = Exchanges(self.tools.settings, self.tools.clock)
        exchanges._pool = OwnPool()  # type: ignore[assignment]
        async with exchanges:
            fetchers = Fetchers(self.tools, exchanges)
            running = asyncio.create_task(fetchers.run())
            ends = time.monotonic() + _PATIENCE_S
            while time.monotonic() < ends:
                await self._work()
                self.meanwhile()
                if all(self.is_over(each) for each in jobs):
                    break
                await asyncio.sleep(0.01)
            if self.clock.late_ms:
                fetchers.hand_back()
            fetchers.end()
            await running

    async def _work(self) -> None:
        # One by one: threads that deliver ring meanwhile, and a bell between a copy and its clearing would be lost.
        heard = [self.bells.pop(0) for _ in range(len(self.bells))]
        for task, step_id in dict.fromkeys(heard):
            await asyncio.to_thread(attempt, self.tools, step_id, WORK[task])

    def is_over(self, job_id: str) -> bool:
        stored = self.tools.store.get(job_id)
        return stored is not None and stored.is_finished

    def results(self, *jobs: str) -> list[Result]:
        asyncio.run(self._play(jobs))
        found = [self.tools.store.result(each) for each in jobs]
        self.tools.redis.close()
        assert all(each is not None for each in found)
        return [msgspec.json.decode(each, type=Result) for each in found if each is not None]

    def entries(self, job_id: str = "job_1") -> list[Entry]:
        found = [entry for _id, entry in self.tools.log.read(job_id)]
        self.tools.redis.close()
        return found


# --- what is in the store ---------------------------------------------------------------------------------------------


def everything_in(redis: Redis) -> Iterator[bytes]:
    """Yield every key, field and value of every type, and what is compressed also unpacked."""
    store: Any = redis  # the library's types cannot say that replies are bytes
    for key in store.scan_iter():
        yield key
        for value in _values(store, key):
            yield value
            if value.startswith(_ZSTD):
                yield zstandard.decompress(value, max_output_size=2**26)


def _values(store: Any, key: bytes) -> list[bytes]:
    kind = store.type(key)
    if kind == b"string":
        return [store.get(key)]
    if kind == b"hash":
        return [each for pair in store.hgetall(key).items() for each in pair]
    if kind == b"stream":
        entries = store.xrange(key)
        return [each for _id, fields in entries for pair in fields.items() for each in pair]
    if kind == b"zset":
        return list(store.zrange(key, 0, -1))
    return list(store.lrange(key, 0, -1) if kind == b"list" else store.smembers(key))
