"""The polite fetchers of a crawl worker: one asyncio loop, in a thread beside Celery's tasks.

Claim what is due, read robots.txt first, check once more, send, parse in a process that can be killed, complete, and
tell every job that waited. It never sleeps for a host: the frontier says when. A request whose worker dies is given
back by its lease; what was fetched but not yet told is found by the jobs themselves when they look again.
"""

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any

import structlog
import uvloop
from msgspec.structs import replace
from signal_search.contracts.source import FetchOutcome, FetchState
from signal_search.errors import StoreFailed, TimedOut

from budget.frontier import Claim, Completion, Delivery
from infra.metrics import FETCHES
from infra.settings import Settings
from workers.pipeline.delivery import Told, deliver, pack_reply
from workers.pipeline.encoding import decode_request
from workers.pipeline.exchange import Exchanges, Finished, Postponed
from workers.toolbox import Bell, Toolbox, open_toolbox

_log = structlog.get_logger("workers.fetch_loop")

_IDLE_S = 1.0  # a wake-up that got lost costs at most this
_EARLY_MS = 2
_REAP_S = 1.0
_LISTEN_MS = 10_000
_STORE_RETRY_S = 0.5
_HAND_BACK_S = 3.0
_ASK_AGAIN_S = 0.1

_LOST = FetchOutcome(
    state=FetchState.MISSED,
    url="",
    reason=TimedOut.code,
    detail="Every worker that tried this request was lost.",
)


class FetchLoop:
    """Runs the fetchers from `start` until `stop`, which lets requests in flight finish for a while."""

    def __init__(self, settings: Settings, bell: Bell) -> None:
        """Prepare; nothing connects before `start`."""
        self._settings = settings
        self._bell = bell
        self._thread = threading.Thread(target=self._run, name="fetch-loop", daemon=True)
        self._stop: Callable[[], None] = lambda: None
        self._hand_back: Callable[[], None] = lambda: None
        self._was_stopped = False
        self._fetchers: Fetchers | None = None

    def start(self) -> None:
        """Begin to fetch."""
        self._thread.start()

    def end(self) -> None:
        """Take no new requests; returns at once."""
        self._was_stopped = True
        self._stop()

    def hand_back(self) -> None:
        """Take no new requests and give those in flight back to their hosts' queues; returns at once."""
        self.end()
        self._hand_back()

    def stop(self) -> None:
        """Take no new requests, finish those in flight, hand back what takes longer than `queue.stop_s`."""
        self.end()
        self._thread.join(self._settings.queue.stop_s)
        if self._thread.is_alive():
            self.hand_back()
            self._thread.join(_HAND_BACK_S)

    def _run(self) -> None:
        with suppress(asyncio.CancelledError):  # told to end while it still opened its tools
            uvloop.run(self._main())

    async def _main(self) -> None:
        loop, opening = asyncio.get_running_loop(), asyncio.current_task()
        self._stop = lambda: _call(loop, lambda: self._end_now(opening))
        self._hand_back = lambda: _call(loop, lambda: self._end_now(opening, at_once=True))
        if self._was_stopped:  # before there was anything to stop
            return
        tools = open_toolbox(self._settings, self._bell)
        async with Exchanges(self._settings, tools.clock) as exchanges:
            self._fetchers = Fetchers(tools, exchanges)
            await self._fetchers.run()

    def _end_now(self, opening: "asyncio.Task[None] | None", *, at_once: bool = False) -> None:
        """End the fetchers, or the opening of what they need."""
        if self._fetchers is None:
            if opening is not None:
                opening.cancel()
        elif at_once:
            self._fetchers.hand_back()
        else:
            self._fetchers.end()


def _call(loop: asyncio.AbstractEventLoop, work: Callable[[], None]) -> None:
    with suppress(RuntimeError):  # the loop has ended already
        loop.call_soon_threadsafe(work)


async def _end(*tasks: asyncio.Task[None]) -> None:
    # The client's library loses a cancellation that comes while it connects: ask until it is heard.
    open_tasks = set(tasks)
    while open_tasks:
        for each in open_tasks:
            each.cancel()
        _, open_tasks = await asyncio.wait(open_tasks, timeout=_ASK_AGAIN_S)


def patience_s(next_in_ms: int, want: int) -> float:
    """Return for how many seconds to wait for news after a turn that claimed nothing, when `want` might have been.

    Until shortly before the next host is due: the store counts whole milliseconds, and who slept takes one to wake. A
    turn or two too many cost less than a host that stands idle. But who can take no more waits for an end in flight.
    """
    if next_in_ms < 0 or want <= 0:
        return _IDLE_S
    return min(max(next_in_ms - _EARLY_MS, 0) / 1000, _IDLE_S)


def rested(completion: Completion, ended_s: float, now_s: float) -> Completion:
    """Take from a pause what has passed since the reply was there: parsing it is no part of the host's rest."""
    past_ms = int((now_s - ended_s) * 1000)
    return replace(completion, pause_ms=max(0, completion.pause_ms - past_ms))


class Fetchers:
    """Claims, fetches and completes, many hosts at once and one request per host."""

    def __init__(self, tools: Toolbox, exchanges: Exchanges) -> None:
        """Work with these tools."""
        self._tools = tools
        self._settings = tools.settings
        self._exchanges = exchanges
        self._frontier = exchanges.frontier
        self._lease_ms = int(self._settings.frontier.lease_s * 1000)
        self._done: list[tuple[Completion, float]] = []
        self._outcomes: dict[str, FetchOutcome] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._claims: dict[asyncio.Task[None], Claim] = {}
        self._news = asyncio.Event()
        self._ending = False

    def end(self) -> None:
        """Take no new requests."""
        self._ending = True
        self._news.set()

    def hand_back(self) -> None:
        """Take no new requests and end those in flight, each back at the head of its host's queue."""
        self.end()
        self._spawn(self._give_back(dict(self._claims)), "hand back")

    async def _give_back(self, claims: dict[asyncio.Task[None], Claim]) -> None:
        await _end(*claims)
        # What was sent may have arrived: the hosts rest as after a crash.
        pause_ms = self._exchanges.restart_pause_ms
        for task, claim in claims.items():
            if task.cancelled():
                with suppress(StoreFailed):  # then its lease has to expire
                    await self._frontier.postpone(claim, pause_ms=pause_ms)

    async def run(self) -> None:
        """Fetch until `end` was called and nothing is in flight."""
        listening = asyncio.create_task(self._forever(self._listen))
        reaping = asyncio.create_task(self._forever(self._reap))
        while not (self._ending and not self._tasks and not self._done):
            try:
                await self._turn()
            except StoreFailed:
                _log.warning("the store does not answer")
                await self._wait(_STORE_RETRY_S)
        await _end(listening, reaping)

    async def _turn(self) -> None:
        """Complete what is done and claim what is due, in one trip; then wait for whichever comes first."""
        self._news.clear()
        done, self._done = self._done, []
        want = 0 if self._ending else self._settings.fetch.concurrency - len(self._claims)
        now_s = self._tools.clock.monotonic()
        try:
            turn = await self._exchanges.turn([rested(*each, now_s) for each in done], want)
        except StoreFailed:
            self._done = done + self._done
            raise
        for claim in turn.claims:
            self._claims[self._spawn(self._fetch(claim), f"fetch {claim.uid}")] = claim
        self._tell(turn.deliveries)
        for completion, _ended_s in done:
            self._outcomes.pop(completion.uid, None)
        if not turn.claims and not self._done:
            await self._wait(patience_s(turn.next_in_ms, want))

    async def _wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._news.wait()

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._claims.pop(task, None)
        self._news.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            # Its lease expires and the request is tried again, a bounded number of times.
            _log.error("a fetcher broke", exc_info=error)

    async def _fetch(self, claim: Claim) -> None:
        request = decode_request(claim.payload)
        try:
            result = await self._exchanges.make(claim, request)
        except StoreFailed:
            _log.warning("the store does not answer; the request is left to its lease")
            return
        if isinstance(result, Postponed):
            return
        FETCHES.labels(outcome=result.outcome.reason or str(result.outcome.state)).inc()
        self._outcomes[claim.uid] = result.outcome
        ended_s = self._tools.clock.monotonic() if result.ended_s is None else result.ended_s
        self._done.append((self._completion(claim, result), ended_s))

    def _completion(self, claim: Claim, result: Finished) -> Completion:
        return Completion(
            uid=claim.uid,
            host=claim.host,
            fence=claim.fence,
            reply=pack_reply(result.kept.reply),
            fresh_ms=result.kept.fresh_ms,
            stale_ms=result.kept.stale_ms,
            keep_ms=self._settings.cache.delivery_ttl_s * 1000,
            pause_ms=result.pause_ms,
            suspend_ms=result.suspend_ms,
            suspend_reason=result.suspend_reason,
        )

    def _tell(self, deliveries: tuple[Delivery, ...]) -> None:
        told: dict[str, list[Told]] = defaultdict(list)
        for delivery in deliveries:
            outcome = self._outcomes.get(delivery.uid)
            if outcome is not None:
                _collect(told, delivery, outcome)
        if told:
            self._spawn(self._deliver(told), "deliver")

    async def _deliver(self, told: Mapping[str, Sequence[Told]]) -> None:
        await asyncio.to_thread(_deliver_all, self._tools, told)

    async def _forever(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        while True:
            try:
                await work()
            except StoreFailed:
                await asyncio.sleep(_STORE_RETRY_S)

    async def _listen(self) -> None:
        if await self._frontier.listen(_LISTEN_MS):
            self._news.set()

    async def _reap(self) -> None:
        await asyncio.sleep(_REAP_S)
        given_up = await self._frontier.reap(max_attempts=self._settings.frontier.max_attempts)
        told: dict[str, list[Told]] = defaultdict(list)
        for delivery in given_up:
            _collect(told, delivery, _LOST)
        await self._deliver(told)


def _collect(told: dict[str, list[Told]], delivery: Delivery, outcome: FetchOutcome) -> None:
    """Sort a delivery by the jobs that waited for it."""
    for waiter in delivery.waiters:
        job_id, fetch_id = waiter.split("|", 1)
        is_owner = waiter == delivery.owner
        paid = is_owner and outcome.status > 0
        told[job_id].append(Told(fetch_id, outcome, paid=paid, is_joined=not is_owner))


def _deliver_all(tools: Toolbox, told: Mapping[str, Sequence[Told]]) -> None:
    for job_id, outcomes in told.items():
        try:
            deliver(tools, job_id, outcomes)
        except StoreFailed:
            _log.warning("a delivery is left to the job's own re-check", job_id=job_id)
