"""How fairly hosts are shared while jobs compete for them, sampled window by window.

A window looks at the hosts at which at least two jobs wait when it begins. What these jobs got there until it ended is
compared with the max-min fair share: the same number of turns, poured out evenly, to nobody more than it asked for.
Over the jobs of a window, summed over their hosts, Jain's index of got / fair share is 1 when all got their share and
1 / n when one got everything.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from bench.simulation.record import Record, job_of
from bench.simulation.scenario import MINUTE

WINDOW_MS = 5 * MINUTE


def jain(shares: Iterable[float]) -> float:
    """(sum x)^2 / (n * sum x^2); 1 for nothing at all."""
    values = list(shares)
    squares = sum(each * each for each in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 1.0


def fair_shares(turns: float, demands: Mapping[str, int]) -> dict[str, float]:
    """Pour out the turns: the smallest demands are met first, what is left is divided evenly."""
    shares, left = {}, turns
    for place, (job, demand) in enumerate(sorted(demands.items(), key=lambda each: each[1])):
        shares[job] = min(float(demand), left / (len(demands) - place))
        left -= shares[job]
    return shares


class Windows:
    """Takes the samples; told of every request that was served."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._demands: dict[str, Counter[str]] = {}
        self._served: dict[str, Counter[str]] = {}
        self._gone: set[str] = set()
        self.indices: list[tuple[float, int]] = []  # of each window, and over how many jobs

    def served(self, host: str, waiters: Iterable[str]) -> None:
        if host in self._served:
            self._served[host].update(job_of(each) for each in waiters)

    def gone(self, job: str) -> None:
        """A job left before it got all it wanted: it is no measure of this window."""
        self._gone.add(job)

    async def next(self) -> None:
        """End a window and begin another."""
        self._close()
        waiting = {host: self._record.waiting_jobs(host) for host in self._record.hosts}
        self._demands = {host: jobs for host, jobs in waiting.items() if len(jobs) > 1}
        self._served = {host: Counter() for host in self._demands}
        self._gone = set()

    def _close(self) -> None:
        got: Counter[str] = Counter()
        due: dict[str, float] = {}
        for host, demands in self._demands.items():
            jobs = {job: demand for job, demand in demands.items() if job not in self._gone}
            served = {job: self._served[host][job] for job in jobs}
            for job, share in fair_shares(sum(served.values()), jobs).items():
                due[job] = due.get(job, 0.0) + share
            got.update(served)
        measured = [got[job] / share for job, share in due.items() if share >= 1]
        if len(measured) > 1:
            self.indices.append((jain(measured), len(measured)))
