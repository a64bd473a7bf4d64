"""A crawl worker in virtual time: it claims, reads robots.txt, renews, sends and completes, as the fetch loop does."""

from collections.abc import Awaitable, Callable
from functools import partial

from bench.simulation.desk import RECHECK_MS, Desk
from bench.simulation.record import Send
from bench.simulation.scenario import MINUTE, PAUSE_MS, SECOND, Host, Page
from budget.frontier import Claim, Completion

LEASE_MS = 60 * SECOND
TRIP_MS = 10  # between two turns of a worker
PREPARE_MS = 5  # between a claim and its sending
IDLE_MS = SECOND
RESTART_MS = 30 * SECOND
FRESH_MS = 10 * MINUTE
KEEP_MS = 10 * MINUTE
REAP_MS = SECOND
MAX_ATTEMPTS = 3


class Worker:
    """One worker: at most `concurrency` requests in flight. A crash ends its life, and what it had in hand is lost."""

    def __init__(self, desk: Desk, pages: dict[str, Page], robots: set[str]) -> None:
        """`robots`, the hosts whose robots.txt is known, is shared by all workers, as in the store."""
        self._desk = desk
        self._record = desk.record
        self._timeline = desk.timeline
        self._frontier = desk.frontier
        self._pages = pages
        self._robots = robots
        self._in_flight = 0
        self._done: list[Completion] = []
        self._life = 0
        self._next_turn_ms: int | None = None
        self._ready_ms = 0  # the trip of the last turn is over

    def wake(self, in_ms: int = 0) -> None:
        """Take a turn in so many milliseconds, or earlier if that was planned already."""
        at_ms = max(self._timeline.now_ms + in_ms, self._ready_ms)
        if self._next_turn_ms is None or at_ms < self._next_turn_ms:
            self._next_turn_ms = at_ms
            self._timeline.at(at_ms, partial(self._turn_if, at_ms))

    async def _turn_if(self, at_ms: int) -> None:
        if self._next_turn_ms == at_ms:
            self._next_turn_ms = None
            await self._turn()

    async def _turn(self) -> None:
        """Complete what is done and claim what is due; then wait for whichever comes first."""
        now_ms = self._timeline.now_ms
        self._ready_ms = now_ms + TRIP_MS
        done, self._done = self._done, []
        want = self._desk.scenario.concurrency - self._in_flight
        turn = await self._frontier.turn(
            done, want, lease_ms=LEASE_MS, pause_ms=PAUSE_MS, now_ms=now_ms
        )
        self._record.counts["turns"] += 1
        for each in done:
            self._record.hear(each.host, each.uid, each.pause_ms, each.suspend_ms)
        for claim in turn.claims:
            self._record.leases[claim.uid] = claim.lease_until_ms
            self._in_flight += 1
            self._later(PREPARE_MS, partial(self._send, claim))
        for delivery in turn.deliveries:
            page = self._pages[delivery.uid]
            del self._record.leases[delivery.uid]
            self._record.hosts[page.host].drop(delivery.uid, now_ms)
            self._desk.windows.served(page.host, delivery.waiters)
            state = "missed" if page.retry_after_ms else "fetched"
            for waiter in delivery.waiters:
                await self._desk.deliver(waiter, page, state, paid=waiter == delivery.owner)
        is_waiting = turn.next_in_ms >= 0 and self._in_flight < self._desk.scenario.concurrency
        self.wake(min(turn.next_in_ms, IDLE_MS) if is_waiting else IDLE_MS)

    def _later(self, ms: int, work: Callable[[], Awaitable[None]]) -> None:
        life = self._life

        async def if_alive() -> None:
            if self._life == life:
                await work()

        self._timeline.after(ms, if_alive)

    async def _send(self, claim: Claim) -> None:
        host, page = self._desk.scenario.hosts[claim.host], self._pages[claim.uid]
        if not await self._renew(claim):
            self._record.counts["claims_lost"] += 1
            self._over()
        elif host.has_robots and host.name not in self._robots:
            self._tell(claim, host.robots_ms)
            self._later(host.robots_ms, partial(self._read_robots, claim, host))
        else:
            self._tell(claim, page.service_ms)
            self._keep(claim, page.service_ms)
            self._later(page.service_ms, partial(self._finish, claim, page, host))

    def _tell(self, claim: Claim, ms: int) -> None:
        now_ms = self._timeline.now_ms
        self._record.send(Send(claim.host, claim.uid, now_ms, now_ms + ms, PAUSE_MS))

    async def _renew(self, claim: Claim) -> bool:
        now_ms = self._timeline.now_ms
        holds = await self._frontier.renew(claim, lease_ms=LEASE_MS, now_ms=now_ms)
        if holds:
            self._record.leases[claim.uid] = now_ms + LEASE_MS
        return holds

    def _keep(self, claim: Claim, service_ms: int) -> None:
        """Prolong the claim every third of its lease while its server takes its time."""

        async def renew() -> None:
            await self._renew(claim)

        for at_ms in range(LEASE_MS // 3, service_ms, LEASE_MS // 3):
            self._later(at_ms, renew)

    async def _read_robots(self, claim: Claim, host: Host) -> None:
        """The slot was used for robots.txt: the request waits for the next one."""
        self._robots.add(host.name)
        self._record.hear(host.name, claim.uid, host.pause_ms)
        self._record.give_back(claim.uid, host.name, self._timeline.now_ms)
        await self._frontier.postpone(claim, pause_ms=host.pause_ms, now_ms=self._timeline.now_ms)
        self._over()

    async def _finish(self, claim: Claim, page: Page, host: Host) -> None:
        is_fine = not page.retry_after_ms
        self._done.append(
            Completion(
                uid=claim.uid,
                host=claim.host,
                fence=claim.fence,
                reply=b"",
                fresh_ms=FRESH_MS if is_fine else 0,
                keep_ms=KEEP_MS,
                pause_ms=host.pause_ms,
                suspend_ms=page.retry_after_ms,
                suspend_reason="" if is_fine else "429",
            )
        )
        if not is_fine:
            self._timeline.after(RECHECK_MS, partial(self._desk.look_again, page.host))
        self._over()

    def _over(self) -> None:
        self._in_flight -= 1
        self.wake()

    async def crash(self) -> None:
        """Lose everything in hand, and start anew after a while."""
        self._life += 1
        self._record.counts["crashes"] += 1
        self._in_flight, self._done, self._ready_ms = 0, [], self._timeline.now_ms + RESTART_MS
        self._next_turn_ms = None
        self.wake(RESTART_MS)

    async def reap(self) -> None:
        """Give back what lost workers had claimed."""
        now_ms = self._timeline.now_ms
        leases = self._record.leases
        for uid in [each for each, ends_ms in leases.items() if ends_ms <= now_ms]:
            self._record.counts["reaped"] += 1
            self._record.give_back(uid, self._pages[uid].host, now_ms)
        for delivery in await self._frontier.reap(max_attempts=MAX_ATTEMPTS, now_ms=now_ms):
            page = self._pages[delivery.uid]
            self._record.hosts[page.host].drop(delivery.uid, now_ms)
            for waiter in delivery.waiters:
                await self._desk.deliver(waiter, page, "lost", paid=False)
