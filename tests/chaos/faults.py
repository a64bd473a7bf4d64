"""What goes wrong at a point: how the process in the trap ends, or what happens around it while it stands still."""

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tests.chaos.lane import Lane
from tests.chaos.points import Point

Action = Literal["die", "die together", "stop", "stand"]
Around = Callable[[Lane, Point, str], None]

_LEASE_S = 3.0  # of a request, in a lane
_AWAY_S = 1.5
_HOUR_S = 3600.0


def nothing(lane: Lane, point: Point, job_id: str) -> None:
    """The trap itself did it."""


def _store_killed(lane: Lane, point: Point, job_id: str) -> None:
    with lane.without_store(signal.SIGKILL):
        lane.release()
        time.sleep(0.3)  # whoever stood there meets a store that is gone


def _store_restarted(lane: Lane, point: Point, job_id: str) -> None:
    with lane.without_store(signal.SIGTERM):
        lane.release()
        time.sleep(0.3)


def _store_emptied(lane: Lane, point: Point, job_id: str) -> None:
    with lane.without_store(signal.SIGKILL, is_emptied=True):
        lane.release()
        time.sleep(0.3)


def _store_frozen(lane: Lane, point: Point, job_id: str) -> None:
    with lane.frozen_store():
        lane.release()
        time.sleep(_AWAY_S)


def _store_full(lane: Lane, point: Point, job_id: str) -> None:
    lane.redis.config_set("maxmemory", 1)
    lane.release()
    time.sleep(_AWAY_S)
    lane.redis.config_set("maxmemory", 0)


def _bells_doubled(lane: Lane, point: Point, job_id: str) -> None:
    lane.sign("echo")
    for _ in range(3):
        if job_id:
            lane.ring_everything(job_id)
    time.sleep(0.2)
    lane.release()


def _bells_lost(lane: Lane, point: Point, job_id: str) -> None:
    lane.sign("deaf")
    lane.lose_bells()
    lane.release()


def _clock_jumps(offset_s: float) -> Around:
    def jump(lane: Lane, point: Point, job_id: str) -> None:
        lane.set_clock("gateway" if point.home == "gateway" else "workers", offset_s)
        lane.release()

    return jump


def _site_hangs(lane: Lane, point: Point, job_id: str) -> None:
    lane.hang(_LEASE_S + 1)
    lane.release()


@dataclass(frozen=True)
class Fault:
    """A column of the table.

    kills: how many processes that the stack keeps may end of it. loses_job: the job may be gone, and honestly so.
    stops_store: a request that was in flight may outlive its lease meanwhile, and be sent once more.
    """

    name: str
    label: str
    action: Action = "stand"
    around: Around = nothing
    kills: int = 0
    loses_job: bool = False
    stops_store: bool = False
    homes: tuple[str, ...] = ("gateway", "reduce", "crawl", "any")


FAULTS = (
    Fault("kill -9 of the pool process", "child", "die", homes=("reduce",)),
    Fault("kill -9 of the worker", "kill", "die together", kills=1),
    Fault("SIGTERM of the worker", "term", "stop", kills=1),
    Fault("store killed, log kept", "kill9", around=_store_killed, stops_store=True),
    Fault("store restarted, log kept", "aof", around=_store_restarted, stops_store=True),
    Fault(
        "store restarted empty", "empty", around=_store_emptied, loses_job=True, stops_store=True
    ),
    Fault("store away for a while", "away", around=_store_frozen, stops_store=True),
    Fault("store full for a while", "full", around=_store_full, stops_store=True),
    Fault("every bell thrice", "echo", around=_bells_doubled),
    Fault("every bell lost", "deaf", around=_bells_lost),
    Fault("clock an hour fast", "+1h", around=_clock_jumps(_HOUR_S)),
    Fault("clock an hour slow", "-1h", around=_clock_jumps(-_HOUR_S)),
    Fault("site hangs beyond the lease", "hang", around=_site_hangs),
)


def applies(point: Point, fault: Fault) -> bool:
    """The threads of a crawl worker, and the gateway, are one process: to kill it is to kill the worker."""
    return point.home in fault.homes
