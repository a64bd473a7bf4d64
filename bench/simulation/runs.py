"""The simulated crawls that are compared, and what each cost the process that ran it."""

import asyncio
import resource
import sys
import time
from dataclasses import replace
from typing import Any

from bench.simulation.crawl import Crawl, crawl
from bench.simulation.scenario import Scenario, Size, draw

SMALL = Size()
FACTOR = 10
WORKERS, CONCURRENCY = 2, 16
NARROW = 2  # requests in flight, so few that one worker cannot keep up with its hosts
MAX_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


def measured(scenario: Scenario) -> tuple[Crawl, dict[str, Any]]:
    """Run a scenario; return it with its figures and what it cost this process, per wanted fetch."""
    rss_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began_s = time.process_time()
    done = asyncio.run(crawl(scenario))
    spent_s = time.process_time() - began_s
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - rss_before) * MAX_RSS_UNIT
    figures = done.figures()
    figures["cost_per_fetch"] = {
        "cpu_ms": round(spent_s * 1000 / scenario.fetches, 3),
        "events": round(figures["events"] / scenario.fetches, 2),
        "memory_kib": round(grown / 1024 / scenario.fetches, 2),
    }
    return done, figures


def fair() -> dict[str, Any]:
    """The scenario itself, and the same with one late request of every host let in: were they really too late?"""
    scenario = draw(SMALL, workers=WORKERS, concurrency=CONCURRENCY)
    done, figures = measured(scenario)
    late = {each.host: each for each in done.record.refusals if each.kind == "late"}
    let_in = frozenset(each.waiter for each in late.values())
    again = asyncio.run(crawl(replace(scenario, let_in=let_in)))
    ends = [again.record.state[each] for each in let_in]
    figures["refusals"]["late"]["let_in"] = {
        "n": len(ends),
        "in_time_after_all": sum(each in {"fetched", "missed", "cached"} for each in ends),
    }
    return figures


def large() -> dict[str, Any]:
    scenario = draw(SMALL.times(FACTOR), workers=WORKERS, concurrency=CONCURRENCY * FACTOR)
    return measured(scenario)[1]


def first_come() -> dict[str, Any]:
    scenario = draw(SMALL, workers=WORKERS, concurrency=CONCURRENCY)
    return measured(replace(scenario, first_come=True))[1]


def narrow(workers: int) -> dict[str, Any]:
    scenario = draw(SMALL, workers=workers, concurrency=NARROW)
    return measured(scenario)[1]
