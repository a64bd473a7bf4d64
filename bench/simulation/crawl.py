"""One simulated crawl from a scenario to its figures."""

from dataclasses import dataclass
from typing import Any

from bench.simulation import judge
from bench.simulation.desk import Desk
from bench.simulation.fairness import WINDOW_MS, Windows
from bench.simulation.record import Record
from bench.simulation.scenario import Scenario
from bench.simulation.timeline import START_MS, Timeline
from bench.simulation.worker import REAP_MS, Worker


@dataclass
class Crawl:
    """A run that is over."""

    scenario: Scenario
    record: Record
    desk: Desk
    timeline: Timeline
    windows: Windows

    def figures(self) -> dict[str, Any]:
        """Everything that is judged, as one document."""
        record = self.record
        return {
            "n": {
                "hosts": len(self.scenario.hosts),
                "jobs": len(self.scenario.jobs),
                "fetches": self.scenario.fetches,
                "workers": self.scenario.workers,
                "in_flight_per_worker": self.scenario.concurrency,
            },
            "requests": judge.requests(record),
            "refusals": judge.refusals(record),
            "politeness": judge.politeness(record),
            "money": judge.money(record, self._balances()),
            "time": judge.time_needed(record, self.scenario, START_MS),
            "fairness": self._fairness(),
            "events": self.timeline.events,
            "counts": dict(sorted(record.counts.items())),
        }

    def _balances(self) -> dict[str, dict[str, Any]]:
        found = {level: self.desk.ledger.balance(level) for level in self.record.accounts}
        return {level: {"used": each.used, "held": each.held} for level, each in found.items()}

    def _fairness(self) -> dict[str, Any]:
        indices = self.windows.indices
        jobs = sum(number for _, number in indices)
        mean = sum(index * number for index, number in indices) / jobs if jobs else 1.0
        return {
            "windows": len(indices),
            "jobs_in_windows": jobs,
            "jain_mean": round(mean, 4),
            "jain_least": round(min((index for index, _ in indices), default=1.0), 4),
        }


async def crawl(scenario: Scenario) -> Crawl:
    """Run a scenario until every job has ended and nothing is in flight."""
    timeline, record = Timeline(), Record()
    windows = Windows(record)
    desk = Desk(scenario, timeline, record, windows)
    pages = {page.uid: page for job in scenario.jobs for page in job.pages}
    robots: set[str] = set()
    workers = [Worker(desk, pages, robots) for _ in range(scenario.workers)]
    desk.workers.extend(workers)
    for at_ms, number in scenario.crashes:
        timeline.after(at_ms, workers[number].crash)
    timeline.every(REAP_MS, workers[0].reap)
    timeline.every(WINDOW_MS, windows.next)
    await timeline.run(is_over=lambda: not desk.left and not record.leases)
    return Crawl(scenario, record, desk, timeline, windows)
