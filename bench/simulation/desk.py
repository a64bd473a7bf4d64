"""The jobs' side of a simulated crawl: admit, reserve, offer, look again, cancel and end, as the pipeline does."""

from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from signal_search.contracts.budget import Dimension

from bench.simulation.fairness import Windows
from bench.simulation.record import Account, Record, Refusal, job_of
from bench.simulation.scenario import MINUTE, PAGE_TOKENS, PAUSE_MS, SECOND, Job, Page, Scenario
from bench.simulation.timeline import Timeline
from budget.frontier import Offer, Placed
from budget.ledger import Short
from budget.memory_frontier import MemoryFrontier
from budget.memory_ledger import MemoryLedger
from budget.policy import deployment_level, job_level, tenant_level
from budget.slots import MemorySlots
from infra.keys import frontier_shard

RETRY_MS = 20 * SECOND
RECHECK_MS = 5 * SECOND
GRACE_MS = MINUTE
COST = {Dimension.FETCHES: 1, Dimension.TOKENS: PAGE_TOKENS}
FOR_EVER_MS = 2**52


@dataclass(slots=True)
class Open:
    """A job that was admitted, until when, and the pages of its requests that are not over, by waiter."""

    job: Job
    deadline_ms: int
    pages: dict[str, Page] = field(default_factory=dict)


class Wakes(Protocol):
    def wake(self) -> None: ...


class Desk:
    """Keeps the jobs. `workers` are told when something was queued."""

    def __init__(
        self, scenario: Scenario, timeline: Timeline, record: Record, windows: Windows
    ) -> None:
        self.scenario = scenario
        self.timeline = timeline
        self.record = record
        self.windows = windows
        self.frontier = MemoryFrontier(timeline.clock, scenario.caps)
        self.ledger = MemoryLedger(timeline.clock)
        self.slots = MemorySlots(timeline.clock)
        self.open: dict[str, Open] = {}
        self.left = len(scenario.jobs)
        self.workers: list[Wakes] = []
        self.shard_load: dict[tuple[int, str], int] = {}
        for tenant in {job.tenant for job in scenario.jobs}:
            self._open_level(f"tenant:{tenant}", scenario.tenant_limits)
        self._open_level("deployment", {})
        for job in scenario.jobs:
            timeline.after(job.at_ms, partial(self.admit, job))

    def _open_level(self, level: str, limits: dict[Dimension, int]) -> None:
        self.ledger.open(level, limits, ttl_ms=0)
        self.record.accounts[level] = Account(limits)

    async def admit(self, job: Job) -> None:
        """Start a job if its tenant has a slot; else it knocks again."""
        limit, now_ms = self.scenario.tenant_slots, self.timeline.now_ms
        unfinished = self.record.unfinished[job.tenant]
        taken = self.slots.take(job.tenant, job.name, limit, job.life_ms + GRACE_MS, now_ms)
        self.record.counts["slots_said_wrong"] += taken != (unfinished < limit)
        if not taken:
            self.record.counts["turned_away"] += 1
            self.timeline.after(RETRY_MS, partial(self.admit, job))
            return
        self.record.unfinished[job.tenant] += 1
        self._open_level(job_level(job.name), job.limits)
        opened = self.open[job.name] = Open(job, now_ms + job.life_ms)
        for number, page in enumerate(job.pages):
            self.offer(opened, f"{job.name}|{number}", page)
        self.timeline.at(opened.deadline_ms, partial(self.end, job.name, "expired"))
        if job.cancel_ms is not None:
            self.timeline.after(job.cancel_ms, partial(self.end, job.name, "cancelled"))
        await self._end_if_over(opened)

    def offer(self, opened: Open, waiter: str, page: Page) -> None:
        """Reserve, then offer; note what came of it."""
        job, record = opened.job, self.record
        record.state[waiter] = "offered"
        levels = _levels_of(job)
        lease_ms = opened.deadline_ms - self.timeline.now_ms + GRACE_MS
        reserved = self.ledger.reserve(waiter, levels, COST, lease_ms=lease_ms)
        if isinstance(reserved, Short):
            left = record.accounts[reserved.level].left(reserved.dimension)
            is_true = left == reserved.left < COST[reserved.dimension]
            self._refuse("budget", opened, waiter, page, is_true=is_true)
            return
        record.hold(waiter, levels, COST)
        is_full = self._is_full(job, page)
        [placed] = self.frontier.offer([self._offer(opened, waiter, page)])
        if placed.disposition in {"full", "late", "suspended"}:
            is_true = self._is_true(placed, page, opened.deadline_ms, is_full=is_full)
            self._refuse(placed.disposition, opened, waiter, page, is_true=is_true)
            self._release(waiter)
        elif placed.disposition == "cached":
            self._settle(waiter, page, paid=False)
            record.end(waiter, "cached")
        else:
            self._wait(opened, waiter, page)

    def _offer(self, opened: Open, waiter: str, page: Page) -> Offer:
        is_let_in = waiter in self.scenario.let_in
        return Offer(
            uid=page.uid,
            host=page.host,
            payload=page.uid.encode(),
            job="everyone" if self.scenario.first_come else opened.job.name,
            waiter=waiter,
            deadline_ms=FOR_EVER_MS if is_let_in else opened.deadline_ms,
            pause_ms=PAUSE_MS,
        )

    def _wait(self, opened: Open, waiter: str, page: Page) -> None:
        opened.pages[waiter] = page
        self.record.state[waiter] = "waits"
        self.record.hosts[page.host].want(page.uid, waiter, self.timeline.now_ms)
        self._bear(waiter, page, 1)
        for each in self.workers:
            each.wake()

    def _bear(self, waiter: str, page: Page, by: int) -> None:
        place = frontier_shard(page.host), job_of(waiter)
        self.shard_load[place] = self.shard_load.get(place, 0) + by

    def _is_full(self, job: Job, page: Page) -> bool:
        """Count for ourselves whether a queue is full: of the host, or of the job in this shard."""
        caps, shard = self.scenario.caps, frontier_shard(page.host)
        queue = self.record.hosts[page.host].queue
        waiting = len(queue) - sum(uid in self.record.leases for uid in queue)
        return waiting >= caps.host or self.shard_load.get((shard, job.name), 0) >= caps.job

    def _is_true(self, placed: Placed, page: Page, deadline_ms: int, *, is_full: bool) -> bool:
        if placed.disposition == "full":
            return is_full
        if placed.disposition == "suspended":
            until_ms = self.record.hosts[page.host].suspended_ms
            # Our own time is that of the server's answer; the frontier counts from when it was told of it.
            return deadline_ms < until_ms <= (placed.until_ms or 0)
        return self.timeline.now_ms + placed.ready_in_ms > deadline_ms

    def _refuse(self, kind: str, opened: Open, waiter: str, page: Page, *, is_true: bool) -> None:
        now_ms = self.timeline.now_ms
        refusal = Refusal(kind, waiter, page.host, now_ms, opened.deadline_ms, is_true)
        self.record.refusals.append(refusal)
        self.record.end(waiter, kind)

    def _release(self, waiter: str) -> None:
        if self.ledger.release(waiter):
            self.record.settle(waiter, {})

    def _settle(self, waiter: str, page: Page, *, paid: bool) -> None:
        used = {Dimension.FETCHES: int(paid), Dimension.TOKENS: page.tokens}
        if self.ledger.settle(waiter, used):
            self.record.settle(waiter, used)

    async def deliver(self, waiter: str, page: Page, state: str, *, paid: bool) -> None:
        """Tell a job what became of a request; what it no longer waits for is dropped."""
        opened = self.open.get(job_of(waiter))
        if opened is None or opened.pages.pop(waiter, None) is None:
            self.record.counts["delivered_to_nobody"] += 1
            return
        self._bear(waiter, page, -1)
        self._settle(waiter, page, paid=paid)
        self.record.end(waiter, state)
        await self._end_if_over(opened)

    async def look_again(self, host: str) -> None:
        """Offer again what waits at a host that was suspended; what would wait in vain is taken back."""
        waiters = [each for group in self.record.hosts[host].queue.values() for each in group]
        for waiter in waiters:
            opened = self.open.get(job_of(waiter))
            page = opened.pages.get(waiter) if opened else None
            if opened is None or page is None:
                continue
            [placed] = self.frontier.offer([self._offer(opened, waiter, page)])
            if placed.until_ms is not None and placed.until_ms > opened.deadline_ms:
                self._take_back(opened, [waiter])
                told = Placed(disposition="suspended", until_ms=placed.until_ms)
                is_true = self._is_true(told, page, opened.deadline_ms, is_full=False)
                self._refuse("suspended", opened, waiter, page, is_true=is_true)
                self._release(waiter)
                await self._end_if_over(opened)

    def _take_back(self, opened: Open, waiters: list[str]) -> None:
        pages = {waiter: opened.pages.pop(waiter) for waiter in waiters}
        triples = [(page.uid, page.host, waiter) for waiter, page in pages.items()]
        self.frontier.cancel(opened.job.name, triples)
        for waiter, page in pages.items():
            self._bear(waiter, page, -1)
            is_in_flight = page.uid in self.record.leases
            log = self.record.hosts[page.host]
            log.leave(page.uid, waiter, self.timeline.now_ms, is_in_flight=is_in_flight)

    async def _end_if_over(self, opened: Open) -> None:
        if not opened.pages:
            await self.end(opened.job.name, "done")

    async def end(self, name: str, how: str) -> None:
        """End a job once: its requests leave the queues, its holds are released, its slot is free."""
        opened = self.open.pop(name, None)
        if opened is None:
            return
        waiters = list(opened.pages)
        if waiters:
            self.windows.gone(name)
        self._take_back(opened, waiters)
        closed = self.ledger.close(job_level(name))
        self.record.counts["closed_wrong"] += closed != len(waiters)
        for waiter in waiters:
            self.record.settle(waiter, {})
            self.record.end(waiter, how)
        self.slots.free(opened.job.tenant, name)
        self.record.unfinished[opened.job.tenant] -= 1
        self.record.counts[f"jobs_{how}"] += 1
        self.left -= 1


def _levels_of(job: Job) -> tuple[str, ...]:
    """Return whose purses a job spends from; its days do not matter here."""
    return job_level(job.name), tenant_level(job.tenant, "ever", 0), deployment_level("ever", 0)
