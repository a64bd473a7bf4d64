"""All that happened in a simulated crawl, written down by those who did it and read by those who judge it."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace

from signal_search.contracts.budget import Amounts, Dimension


@dataclass(frozen=True, slots=True)
class Send:
    """A request as its server saw it, and when the server may see the next one: rest_ms after the end at least.

    That is the usual pause until its answer is heard: what a worker learns and takes to its grave binds nobody.
    """

    host: str
    uid: str
    begin_ms: int
    end_ms: int
    rest_ms: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """What was refused, when, and whether what was said was true at that moment (late: it shows at the end)."""

    kind: str
    waiter: str
    host: str
    at_ms: int
    deadline_ms: int
    is_true: bool = True


@dataclass(slots=True)
class HostLog:
    """What is wanted of one host.

    queue: the uids that wait or are in flight, with their waiters. free: times at which nothing was wanted though the
    host could have been asked, as [from, to). left: when requests left because nobody wanted them any more.
    """

    queue: dict[str, list[str]] = field(default_factory=dict)
    sends: list[Send] = field(default_factory=list)
    free: list[tuple[int, int]] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    empty_since: int | None = 0
    first_wanted_ms: int | None = None
    last_wanted_ms: int = 0
    due_ms: int = 0
    suspended_ms: int = 0

    def want(self, uid: str, waiter: str, now_ms: int) -> None:
        if self.empty_since is not None:
            self.note_free(now_ms)
            self.empty_since = None
        if self.first_wanted_ms is None:
            self.first_wanted_ms = now_ms
        self.last_wanted_ms = now_ms
        self.queue.setdefault(uid, []).append(waiter)

    def note_free(self, until_ms: int) -> None:
        since = max(self.empty_since or 0, self.due_ms, self.suspended_ms)
        if self.empty_since is not None and since < until_ms:
            self.free.append((since, until_ms))

    def drop(self, uid: str, now_ms: int) -> list[str]:
        waiters = self.queue.pop(uid, [])
        if not self.queue and self.empty_since is None:
            self.empty_since = now_ms
        return waiters

    def leave(self, uid: str, waiter: str, now_ms: int, *, is_in_flight: bool) -> None:
        self.queue[uid].remove(waiter)
        if not self.queue[uid] and not is_in_flight:
            self.drop(uid, now_ms)
            self.left.append(now_ms)


class Account:
    """What a level may spend, has spent and holds, counted once more."""

    def __init__(self, limits: Amounts) -> None:
        self.limits = dict(limits)
        self.used: Counter[Dimension] = Counter()
        self.held: Counter[Dimension] = Counter()
        self.worst = 0  # by how much used and held were ever above a limit

    def left(self, name: Dimension) -> int:
        return self.limits[name] - self.used[name] - self.held[name]

    def change(self, *, used: Amounts, held: Amounts, sign: int = 1) -> None:
        for name in Dimension:
            self.used[name] += used.get(name, 0)
            self.held[name] += sign * held.get(name, 0)
            if name in self.limits:
                self.worst = max(self.worst, -self.left(name))


class Record:
    """The book of one run."""

    def __init__(self) -> None:
        self.hosts: dict[str, HostLog] = defaultdict(HostLog)
        self.state: dict[str, str] = {}  # by waiter: "offered", "waits", or what became of it
        self.twice = 0  # outcomes of waiters that had one already
        self.refusals: list[Refusal] = []
        self.accounts: dict[str, Account] = {}
        self.holds: dict[str, tuple[tuple[str, ...], Amounts]] = {}
        self.leases: dict[
            str, int
        ] = {}  # by uid: what is in flight, and until when it is its worker's
        self.counts: Counter[str] = Counter()
        self.unfinished: Counter[str] = Counter()  # jobs by tenant

    def send(self, send: Send) -> None:
        log = self.hosts[send.host]
        log.sends.append(send)
        log.due_ms = send.end_ms + send.rest_ms

    def hear(self, host: str, uid: str, pause_ms: int, suspend_ms: int = 0) -> None:
        """The frontier is told how long a host wants to rest after its last request."""
        log = self.hosts[host]
        last = log.sends[-1]
        if last.uid != uid:
            return  # its lease was lost, and somebody else has asked meanwhile
        log.sends[-1] = replace(last, rest_ms=max(pause_ms, suspend_ms))
        log.due_ms = last.end_ms + pause_ms
        if suspend_ms:
            log.suspended_ms = max(log.suspended_ms, last.end_ms + suspend_ms)

    def end(self, waiter: str, state: str) -> None:
        """An offered request has come to its end: one of the states that `judge` counts."""
        if self.state.get(waiter) not in {"offered", "waits"}:
            self.twice += 1
        self.state[waiter] = state

    def hold(self, hold_id: str, levels: tuple[str, ...], cost: Amounts) -> None:
        self.holds[hold_id] = (levels, cost)
        for level in levels:
            self.accounts[level].change(used={}, held=cost)

    def settle(self, hold_id: str, used: Amounts) -> None:
        levels, cost = self.holds.pop(hold_id)
        for level in levels:
            self.accounts[level].change(used=used, held=cost, sign=-1)

    def give_back(self, uid: str, host: str, now_ms: int) -> None:
        """A request that was in flight is queued again, or forgotten if everyone has cancelled meanwhile."""
        del self.leases[uid]
        if not self.hosts[host].queue.get(uid):
            self.hosts[host].drop(uid, now_ms)

    def waiting_jobs(self, host: str) -> Counter[str]:
        """How many requests each job waits for at a host."""
        waiters = self.hosts[host].queue.values()
        return Counter(job_of(each) for group in waiters for each in group)


def job_of(waiter: str) -> str:
    return waiter.partition("|")[0]
