"""Judges a simulated crawl by its record alone: politeness, money, requests, and time beside the least possible."""

from collections import Counter
from itertools import pairwise
from typing import Any

from bench.simulation.record import HostLog, Record, Refusal, Send
from bench.simulation.scenario import Scenario

DELIVERED = ("fetched", "missed", "cached", "lost")
REFUSED = ("full", "late", "suspended", "budget")
CANCELLED = ("cancelled", "expired")


def politeness(record: Record) -> dict[str, int]:
    """Pairs of requests of a host closer than its rest, and pairs of which one began before the other had ended."""
    pairs = [pair for log in record.hosts.values() for pair in pairwise(log.sends)]
    return {
        "pairs": len(pairs),
        "violations": sum(b.begin_ms < a.end_ms + a.rest_ms for a, b in pairs),
        "overlaps": sum(b.begin_ms < a.end_ms for a, b in pairs),
    }


def requests(record: Record) -> dict[str, Any]:
    """What became of every offered request; lost: offered less delivered, refused and cancelled."""
    states = Counter(record.state.values())
    groups = {"delivered": DELIVERED, "refused": REFUSED, "cancelled": CANCELLED}
    sums = {name: sum(states[each] for each in kinds) for name, kinds in groups.items()}
    return {
        "offered": len(record.state),
        **sums,
        "lost": len(record.state) - sum(sums.values()),
        "ended_twice": record.twice,
        "by_state": {each: states[each] for each in (*DELIVERED, *REFUSED, *CANCELLED)},
    }


def refusals(record: Record) -> dict[str, Any]:
    """Refusals by kind, and how many of each were not honest.

    full, suspended and budget are compared with our own count when they are said. late: afterwards, every moment until
    the deadline must have been needed for others; where requests left the queue meanwhile, nobody could have known.
    """
    found: dict[str, dict[str, int]] = {}
    for kind in REFUSED:
        of_kind = [each for each in record.refusals if each.kind == kind]
        wrong = [each for each in of_kind if not each.is_true]
        found[kind] = {"n": len(of_kind), "dishonest": len(wrong)}
    late = [each for each in record.refusals if each.kind == "late"]
    free = [each for each in late if _had_room(record.hosts[each.host], each)]
    unforeseen = [each for each in free if _others_left(record.hosts[each.host], each)]
    found["late"]["dishonest"] += len(free) - len(unforeseen)
    found["late"]["room_after_others_left"] = len(unforeseen)
    return found


def _had_room(log: HostLog, refusal: Refusal) -> bool:
    return any(
        begin < refusal.deadline_ms and end > max(begin, refusal.at_ms) for begin, end in log.free
    )


def _others_left(log: HostLog, refusal: Refusal) -> bool:
    return any(refusal.at_ms <= each <= refusal.deadline_ms for each in log.left)


def money(record: Record, balances: dict[str, dict[str, Any]]) -> dict[str, int]:
    """Overspent levels by our own account, levels where the ledger's balance differs from it, what is still held."""
    differ = [
        level
        for level, account in record.accounts.items()
        if balances[level] != {"used": +account.used, "held": +account.held}
    ]
    return {
        "levels": len(record.accounts),
        "overspent": sum(each.worst > 0 for each in record.accounts.values()),
        "balances_that_differ": len(differ),
        "still_held": sum(sum(each.held.values()) for each in record.accounts.values()),
    }


def time_needed(record: Record, scenario: Scenario, start_ms: int) -> dict[str, Any]:
    """The makespan beside what no order of the same requests could undercut.

    host: of the busiest host, its requests with a full rest between each two, from when it was first wanted.
    work: all service times, divided among all that may be in flight. arrival: when the last request was offered.
    """
    logs = [log for log in record.hosts.values() if log.sends]
    last_ms = max(log.sends[-1].end_ms for log in logs)
    work_ms = sum(each.end_ms - each.begin_ms for log in logs for each in log.sends)
    host_ms = max((log.first_wanted_ms or 0) - start_ms + _least_ms(log.sends) for log in logs)
    bounds = {
        "host": host_ms,
        "work": work_ms // (scenario.workers * scenario.concurrency),
        "arrival": max(log.last_wanted_ms for log in logs) - start_ms,
    }
    makespan_ms = last_ms - start_ms
    return {
        "requests_sent": sum(len(log.sends) for log in logs),
        "makespan_s": round(makespan_ms / 1000),
        "bounds_s": {name: round(each / 1000) for name, each in bounds.items()},
        "makespan_to_bound": round(makespan_ms / max(bounds.values()), 4),
    }


def _least_ms(sends: list[Send]) -> int:
    service_ms = sum(each.end_ms - each.begin_ms for each in sends)
    return service_ms + sum(each.rest_ms for each in sends[:-1])
