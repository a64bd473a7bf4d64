"""Print what the simulated crawls show, as one JSON document: `python -m bench.simulation`.

The same scenario is run with fair queues, once more with some refused requests let in, in order of arrival, with 1, 2
and 4 narrow workers, and ten times as large. Every run is a process of its own, so that its memory is its own.
"""

import json
import multiprocessing
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from bench.simulation.runs import FACTOR, NARROW, fair, first_come, large, narrow


def growth(small: dict[str, Any], big: dict[str, Any]) -> dict[str, Any]:
    """Cost per fetch at ten times the size, as a ratio to the small run: 1 is linear."""
    pairs = {
        name: (small["cost_per_fetch"][name], each) for name, each in big["cost_per_fetch"].items()
    }
    return {f"{name}_ratio": round(after / before, 2) for name, (before, after) in pairs.items()}


def faults(runs: Iterable[dict[str, Any]]) -> dict[str, int]:
    """Everything that must be 0, over all runs."""
    found: dict[str, int] = {}
    for run in runs:
        counts = run["counts"]
        for name, number in {
            "violations": run["politeness"]["violations"],
            "overlaps": run["politeness"]["overlaps"],
            "overspent": run["money"]["overspent"],
            "balances_that_differ": run["money"]["balances_that_differ"],
            "still_held": run["money"]["still_held"],
            "lost_requests": run["requests"]["lost"] + run["requests"]["ended_twice"],
            "dishonest_refusals": sum(each["dishonest"] for each in run["refusals"].values()),
            "slots_said_wrong": counts.get("slots_said_wrong", 0),
            "holds_closed_wrong": counts.get("closed_wrong", 0),
        }.items():
            found[name] = found.get(name, 0) + number
    return found


def main() -> None:
    began_s = time.monotonic()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as children:
        asked = {
            "fair": children.submit(fair),
            "first_come": children.submit(first_come),
            **{f"narrow_{n}": children.submit(narrow, n) for n in (1, 2, 4)},
            "ten_times": children.submit(large),
        }
        runs = {}
        for name, each in asked.items():
            runs[name] = each.result()
            print(f"{name}: {round(time.monotonic() - began_s)} s", file=sys.stderr)
    print(
        json.dumps(
            {
                "faults": faults(runs.values()),
                "growth": {"factor": FACTOR, **growth(runs["fair"], runs["ten_times"])},
                "makespan_to_bound_by_workers": {
                    name.removeprefix("narrow_"): {**run["time"], "in_flight_per_worker": NARROW}
                    for name, run in runs.items()
                    if name.startswith("narrow_")
                },
                "fairness": {name: runs[name]["fairness"] for name in ("fair", "first_come")},
                "fair": runs["fair"],
                "ten_times": runs["ten_times"],
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
