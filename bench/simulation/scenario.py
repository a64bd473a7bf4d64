"""What is simulated, drawn from a seed: skewed hosts, pages with their service times, jobs with budgets and deadlines.

All that chance decides is decided here, page by page, so that two runs of a scenario with other workers or another
order of queues differ in nothing else.
"""

import random
from bisect import bisect
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from signal_search.contracts.budget import Amounts, Dimension

from budget.frontier import UNCAPPED, Caps

SECOND, MINUTE = 1000, 60_000
PAUSE_MS = 14_002  # one request in 14 s, and the guard
PAGE_TOKENS = 1500
_ZIPF = 0.8
_PAGES_PER_FETCH = 4  # of a host, so that some jobs want the same page
_TENANTS = 8


@dataclass(frozen=True, slots=True)
class Host:
    """pause_ms: its real rest after a request, which a Crawl-delay makes longer than the usual one."""

    name: str
    pause_ms: int = PAUSE_MS
    has_robots: bool = True
    robots_ms: int = 200


@dataclass(frozen=True, slots=True)
class Page:
    """retry_after_ms: above 0 the server answers 429 with this Retry-After. tokens: what its passages cost."""

    uid: str
    host: str
    service_ms: int = 500
    retry_after_ms: int = 0
    tokens: int = 500


@dataclass(frozen=True, slots=True)
class Job:
    """A job wants all its pages at once, at `at_ms` after the start, and has `life_ms` for them."""

    name: str
    pages: tuple[Page, ...]
    at_ms: int = 0
    life_ms: int = 60 * MINUTE
    tenant: str = "t0"
    limits: Amounts = field(default_factory=dict)
    cancel_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """crashes: after so many ms, this worker is lost with all it has in flight, and starts anew 30 s later.

    first_come: no fair queues, the order is that of arrival. let_in: requests that are not refused for being late.
    """

    hosts: dict[str, Host]
    jobs: tuple[Job, ...]
    workers: int = 2
    concurrency: int = 16
    caps: Caps = UNCAPPED
    tenant_limits: Amounts = field(default_factory=dict)
    tenant_slots: int = 10_000
    crashes: tuple[tuple[int, int], ...] = ()
    first_come: bool = False
    let_in: frozenset[str] = frozenset()

    @property
    def fetches(self) -> int:
        return sum(len(job.pages) for job in self.jobs)


@dataclass(frozen=True, slots=True)
class Size:
    hosts: int = 1000
    fetches: int = 10_000
    jobs: int = 200

    def times(self, factor: int) -> "Size":
        return Size(self.hosts * factor, self.fetches * factor, self.jobs * factor)


def draw(size: Size, *, workers: int, concurrency: int, seed: int = 7) -> Scenario:
    """Return a scenario of this size; the same seed and size give the same hosts, pages and jobs."""
    chance = random.Random(seed)
    hosts = [_host(number, chance) for number in range(size.hosts)]
    wanted = _wanted(size, hosts, chance)
    jobs, first = [], 0
    for number, width in enumerate(_widths(size, chance)):
        jobs.append(_job(number, wanted[first : first + width], chance))
        first += width
    return Scenario(
        hosts={each.name: each for each in hosts},
        jobs=tuple(jobs),
        workers=workers,
        concurrency=concurrency,
        caps=Caps(host=150, job=size.fetches // 80, total=200_000),
        tenant_limits={Dimension.FETCHES: size.fetches // _TENANTS},
        tenant_slots=size.jobs // 10,
        crashes=((10 * MINUTE, 0), (20 * MINUTE, workers - 1)),
    )


def _host(number: int, chance: random.Random) -> Host:
    is_api, is_slow = chance.random() < 0.2, chance.random() < 0.05
    return Host(
        name=f"h{number}.test",
        pause_ms=30 * SECOND if is_slow else PAUSE_MS,
        has_robots=not is_api,
        robots_ms=chance.randint(50, 500),
    )


def _wanted(size: Size, hosts: list[Host], chance: random.Random) -> list[Page]:
    """The pages that are wanted, in the order of the jobs: the hosts by Zipf, a page of a host with equal chance."""
    reach = list(accumulate(1 / rank**_ZIPF for rank in range(1, size.hosts + 1)))
    usual_ms = [chance.lognormvariate(6.2, 0.8) for _ in hosts]  # median 0.5 s
    known: dict[str, Page] = {}
    wanted = []
    for _ in range(size.fetches):
        place = bisect(reach, chance.random() * reach[-1])
        expected = size.fetches / (place + 1) ** _ZIPF / reach[-1]
        uid = f"{hosts[place].name}/{chance.randrange(2 + round(_PAGES_PER_FETCH * expected))}"
        if uid not in known:
            known[uid] = _page(uid, hosts[place].name, usual_ms[place], chance)
        wanted.append(known[uid])
    return wanted


def _page(uid: str, host: str, usual_ms: float, chance: random.Random) -> Page:
    is_limited = chance.random() < 0.01
    return Page(
        uid=uid,
        host=host,
        service_ms=min(29_000, max(5, round(usual_ms * chance.lognormvariate(0, 0.6)))),
        retry_after_ms=chance.choice((1, 5, 30)) * MINUTE if is_limited else 0,
        tokens=0 if is_limited else chance.randint(100, PAGE_TOKENS),
    )


def _widths(size: Size, chance: random.Random) -> list[int]:
    """How many pages each job wants: a few giants, many small ones, `size.fetches` in all."""
    reach = list(accumulate(chance.lognormvariate(0, 1.1) for _ in range(size.jobs)))
    marks = [0, *(round(size.fetches * each / reach[-1]) for each in reach)]
    return [end - begin for begin, end in pairwise(marks)]


def _job(number: int, pages: list[Page], chance: random.Random) -> Job:
    life_ms = chance.choice((10, 30, 30, 60, 60)) * MINUTE
    is_short = chance.random() < 0.25
    is_cancelled = chance.random() < 0.05
    distinct = tuple(dict.fromkeys(pages))
    return Job(
        name=f"j{number}",
        pages=distinct,
        at_ms=chance.randrange(10 * MINUTE),
        life_ms=life_ms,
        tenant=f"t{chance.randrange(_TENANTS)}",
        limits={Dimension.FETCHES: max(1, len(distinct) * 6 // 10)} if is_short else {},
        cancel_ms=chance.randrange(life_ms // 2) if is_cancelled else None,
    )
