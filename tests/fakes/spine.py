"""The walk of a job in one process: real steps, log and ledger, a list as the bell, and a canned web.

Time stands still unless a test moves it. The steps' lease is zero, so that a crashed try can be tried again at once;
`crash_at` makes a tool break at one of its calls, before or after it took effect, as a killed process would.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

import msgspec
from signal_search.contracts.budget import Dimension
from signal_search.contracts.job import RetrieveSpec
from signal_search.contracts.query import Constraints, RetrieveRequest, SourcePrefs, Tier
from signal_search.contracts.result import Result
from signal_search.contracts.source import FetchOutcome, FetchState, Link, Parsed, Request
from signal_search.contracts.trace import LogEntry

from budget.frontier import Claim, Completion, Delivery, FrontierWorker, Offer, Placed
from budget.memory_frontier import MemoryFrontier
from budget.redis_frontier import RedisFrontier, RedisFrontierWorker
from infra.clock import FixedClock
from infra.metrics import Publisher
from infra.redis import connect_async
from infra.settings import Settings, load
from infra.steps import StepRules, Steps
from tests.fakes.builders import NOW_MS, a_document, a_job
from workers.fetching.stored_reply import StoredReply
from workers.pipeline.attempt import Work, attempt
from workers.pipeline.crawl import crawl
from workers.pipeline.delivery import Told, deliver, pack_reply, unpack_outcome
from workers.pipeline.encoding import decode_request
from workers.pipeline.plan import plan
from workers.pipeline.recall import recall
from workers.pipeline.reduce import reduce
from workers.reconciler import Reconciler
from workers.toolbox import Toolbox, open_toolbox

WORK: dict[str, Work] = {"plan": plan, "crawl": crawl, "recall": recall, "reduce": reduce}
PAUSE_MS = 14_001  # the public interval of the defaults and its guard
DEADLINE_MS = 300_000
SITE = "https://site.test/"
FEED = "https://news.test/feed"
Answering = Callable[[Request], FetchOutcome]


class Crash(BaseException):
    """The process was killed here. Not an Exception: nothing of ours may catch it."""


# --- the canned web ---------------------------------------------------------------------------------------------------


def got(request: Request, **parsed: Any) -> FetchOutcome:
    return FetchOutcome(
        state=FetchState.FETCHED,
        url=request.url,
        status=200,
        bytes=1000,
        fetched_at_ms=NOW_MS,
        parsed=Parsed(**parsed),
    )


def moved(request: Request, to: str) -> FetchOutcome:
    return FetchOutcome(
        state=FetchState.REDIRECTED, url=request.url, status=302, parsed=Parsed(redirect_to=to)
    )


def not_there(request: Request) -> FetchOutcome:
    return FetchOutcome(
        state=FetchState.MISSED, url=request.url, status=404, reason="not_there", bytes=9
    )


ENCYCLOPEDIA = a_document(
    doc_id="encyclopedia",
    url="https://en.wikipedia.org/wiki/Mount_Ansel",
    site="wikipedia.org",
    source_id="wikipedia",
    text="Mount Ansel is 2,114 metres high. It was first climbed in 1903 by a party of four.",
)
NEWS = a_document(
    doc_id="news",
    url="https://news.test/1",
    site="news.test",
    source_id=f"feed:{FEED}",
    title="Road closed",
    text="The road to the lake is closed until spring. Buses stop at the bridge.",
)
GUIDE = a_document(
    doc_id="guide",
    url=SITE + "ansel",
    site="site.test",
    source_id=f"site:{SITE}",
    text="Bring boots and water. Mount Ansel is 2,114 metres high. The hut opens in June.",
)


def small_web(request: Request) -> FetchOutcome:
    """A search with a follow-up, a feed, and a site whose start page moved and whose second page answers."""
    if "list=search" in request.url:
        page = msgspec.structs.replace(request, url="https://en.wikipedia.org/w/api.php?pageids=7")
        return got(request, requests=(page,), total=1)
    pages: dict[str, Callable[[], FetchOutcome]] = {
        "https://en.wikipedia.org/w/api.php?pageids=7": lambda: got(
            request, documents=(ENCYCLOPEDIA,)
        ),
        FEED: lambda: got(request, documents=(NEWS,)),
        SITE: lambda: moved(request, SITE + "home"),
        SITE + "home": lambda: got(
            request,
            links=(Link(url=SITE + "ansel", text="How high Mount Ansel is"),),
        ),
        SITE + "ansel": lambda: got(request, documents=(GUIDE,)),
    }
    return pages.get(request.url, lambda: not_there(request))()


# --- breaking a tool --------------------------------------------------------------------------------------------------


class Fuse:
    """Counts the calls of tools, and breaks once, at the call of this number (from 0; None: never)."""

    def __init__(self, at: int | None = None) -> None:
        self.at = at
        self.passed: list[str] = []

    def burn(self, name: str) -> None:
        self.passed.append(name)
        if len(self.passed) - 1 == self.at:
            raise Crash(name)


class Wired:
    """A tool whose named methods pass the fuse before and after they take effect."""

    def __init__(self, tool: object, name: str, fuse: Fuse, methods: frozenset[str]) -> None:
        self._tool = tool
        self._name = name
        self._fuse = fuse
        self._methods = methods

    def __getattr__(self, method: str) -> Any:
        inner = getattr(self._tool, method)
        if method not in self._methods:
            return inner

        def call(*args: Any, **kwargs: Any) -> Any:
            self._fuse.burn(f"before {self._name}.{method}")
            answer = inner(*args, **kwargs)
            self._fuse.burn(f"after {self._name}.{method}")
            return answer

        return call


WRITES = {
    "store": frozenset({"transition", "end"}),
    "log": frozenset({"append", "put_documents"}),
    "steps": frozenset({"make", "make_all", "ring", "rest", "leave", "drop"}),
    "ledger": frozenset(
        {"open", "spend", "reserve", "reserve_all", "settle_all", "release", "close"}
    ),
    "frontier": frozenset({"offer", "cancel"}),
}


def wired(tools: Toolbox, fuse: Fuse) -> Toolbox:
    parts: dict[str, Any] = {
        name: Wired(getattr(tools, name), name, fuse, methods) for name, methods in WRITES.items()
    }
    return replace(tools, **parts)


# --- the driver -------------------------------------------------------------------------------------------------------


class TimedFrontier:
    """The frontier in Redis by the test's clock."""

    def __init__(self, inner: RedisFrontier, clock: FixedClock) -> None:
        self._inner = inner
        self._clock = clock

    def offer(self, offers: list[Offer], *, now_ms: int = 0) -> list[Placed]:
        return self._inner.offer(offers, now_ms=now_ms or self._clock.now_ms())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


OPEN: list["Spine"] = []
"""Every spine that was made since the last `close_all`."""


def close_all() -> None:
    """Close the connections of every spine, so that none is left to the garbage collector."""
    while OPEN:
        OPEN.pop().redis.close()


class Spine:
    """One process that plays every worker. tests/conftest.py closes it."""

    def __init__(self, redis_url: str, *, in_redis: bool = False, **changes: Any) -> None:
        self.clock = FixedClock(NOW_MS)
        self.bells: list[tuple[str, str]] = []
        self.web: Answering = small_web
        self.fetched: Counter[str] = Counter()
        self.crashes = 0
        self.suspend_ms = 0
        self.is_retried_late = False  # after a crash the web goes on before the step is tried again
        self.settings: Settings = load(redis_url=redis_url, **changes)
        tools = open_toolbox(self.settings, self._bell, clock=self.clock)
        self.redis = tools.redis
        OPEN.append(self)
        rules = StepRules(
            lease_ms=0,
            grace_ms=0,
            max_attempts=self.settings.queue.max_attempts,
            ttl_ms=600_000,
        )
        memory = MemoryFrontier(self.clock)
        frontier: Any = (
            TimedFrontier(cast("RedisFrontier", tools.frontier), self.clock) if in_redis else memory
        )
        self._memory = None if in_redis else memory
        self.tools = replace(tools, steps=Steps(tools.redis, rules), frontier=frontier)

    def _bell(self, task: str, step_id: str) -> None:
        self.bells.append((task, step_id))

    def wire(self, fuse: Fuse) -> None:
        self.tools = wired(self.tools, fuse)

    # --- a job ---

    def submit(self, job_id: str = "job_1", **changes: Any) -> RetrieveSpec:
        spec = a_job(
            **{
                "id": job_id,
                "request": a_question(),
                "deadline_ms": NOW_MS + DEADLINE_MS,
                **changes,
            }
        )
        self.tools.store.create(spec)
        self.tools.start([f"{job_id}/plan"])
        return spec

    def entries(self, job_id: str = "job_1") -> list[LogEntry]:
        return [entry for _id, entry in self.tools.log.read(job_id)]

    def result(self, job_id: str = "job_1") -> Result:
        raw = self.tools.store.result(job_id)
        assert raw is not None, f"{job_id} has no result"
        return msgspec.json.decode(raw, type=Result)

    def is_over(self, job_id: str = "job_1") -> bool:
        stored = self.tools.store.get(job_id)
        return stored is None or stored.is_finished

    def used(self, level: str = "job:job_1") -> dict[str, int]:
        """What a level has spent; what is nothing is left out."""
        return {str(name): n for name, n in self.tools.ledger.balance(level).used.items() if n}

    def held(self, level: str = "job:job_1") -> dict[str, int]:
        return {str(name): n for name, n in self.tools.ledger.balance(level).held.items() if n}

    # --- time passes ---

    def try_step(self, task: str, step_id: str) -> str:
        """Try a step once; 'crashed' when the process was killed in it."""
        try:
            return attempt(self.tools, step_id, WORK[task])
        except Crash:
            self.crashes += 1
            return "crashed"

    def run_bells(self) -> None:
        while self.bells:
            task, step_id = self.bells.pop(0)
            if self.try_step(task, step_id) == "crashed":
                if self.is_retried_late:
                    self.clock.advance(PAUSE_MS)
                    self.fetch()
                self.look()

    def look(self) -> int:
        """Let the reconciler look once."""
        publisher = Publisher(self.tools.redis, self.clock)
        reconciler = Reconciler(self.tools, publisher, worker="w", role="all", pid=1)
        return reconciler.look()

    def fetch(self, most: int = 64, *, tell: bool = True) -> int:
        """Fetch what is due now, complete it and tell the jobs; return how many requests were made."""
        return asyncio.run(self._fetch(most, tell))

    async def _fetch(self, most: int, tell: bool) -> int:
        if self._memory is not None:
            return await self._turn(self._memory, most, tell)
        redis = connect_async(self.settings.redis_url)
        try:
            return await self._turn(RedisFrontierWorker(redis), most, tell)
        finally:
            await redis.aclose()

    async def _turn(self, worker: FrontierWorker, most: int, tell: bool) -> int:
        at = {"lease_ms": 60_000, "pause_ms": PAUSE_MS, "now_ms": self.clock.now_ms()}
        claimed = (await worker.turn([], most, **at)).claims
        outcomes = {each.uid: self._answer(each) for each in claimed}
        done = [completed(each, outcomes[each.uid], suspend_ms=self.suspend_ms) for each in claimed]
        deliveries = (await worker.turn(done, 0, **at)).deliveries
        for each in deliveries if tell else ():
            self._tell(each, outcomes[each.uid])
        return len(claimed)

    def _answer(self, claim: Claim) -> FetchOutcome:
        request = decode_request(claim.payload)
        self.fetched[request.url] += 1
        return self.web(request)

    def _tell(self, delivery: Delivery, outcome: FetchOutcome) -> None:
        for waiter in delivery.waiters:
            job_id, fetch_id = waiter.split("|", 1)
            paid = waiter == delivery.owner and outcome.status > 0
            try:
                deliver(self.tools, job_id, [Told(fetch_id, outcome, paid=paid)])
            except Crash:
                self.crashes += 1

    def drive(self, *job_ids: str) -> None:
        """Run until the jobs are over: bells, fetches, one interval later the next ones and the re-check."""
        jobs = job_ids or ("job_1",)
        for _ in range(60):
            self.run_bells()
            if all(map(self.is_over, jobs)):
                break
            self.fetch()
            self.run_bells()
            self.clock.advance(PAUSE_MS)
            self.bells += [("reduce", f"{each}/reduce") for each in jobs]
        else:
            raise AssertionError("the job did not come to an end")
        self.look()
        self.run_bells()


def completed(claim: Claim, outcome: FetchOutcome, **changes: Any) -> Completion:
    values: dict[str, Any] = {
        "uid": claim.uid,
        "host": claim.host,
        "fence": claim.fence,
        "reply": pack_reply(StoredReply(outcome=outcome)),
        "fresh_ms": 600_000 if outcome.state is FetchState.FETCHED else 0,
        "keep_ms": 300_000,
        "pause_ms": PAUSE_MS,
    }
    assert unpack_outcome(values["reply"]) == outcome
    return Completion(**{**values, **changes})


def a_question(
    *only: str, tier: Tier = Tier.L1, query: str = "How high is Mount Ansel?", **changes: Any
) -> RetrieveRequest:
    """The builders' question to the sources of `small_web`."""
    names = only or ("wikipedia", f"feed:{FEED}", f"site:{SITE}")
    constraints = Constraints(required_tier=tier, source_prefs=SourcePrefs(only=names))
    return RetrieveRequest(query=query, constraints=constraints, **changes)


def charged(usage: Mapping[str, int] | Result) -> dict[str, int]:
    """The part of a result's usage that the ledger counts too; what is nothing is left out."""
    if isinstance(usage, Result):
        usage = {each.value: getattr(usage.usage, each.value) for each in Dimension}
    return {name: n for name, n in usage.items() if n and name != "rounds"}
