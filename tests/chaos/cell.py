"""One cell: a job, a fault at a point of it, and everything that must be so afterwards."""

import threading
import time
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import msgspec
from signal_search.contracts.job import TERMINAL_STATES, Job, JobState
from signal_search.contracts.query import Constraints, RetrieveRequest, SourcePrefs
from signal_search.contracts.result import Result
from signal_search.contracts.trace import Ended, FetchFinished, LogEntry
from signal_search.errors import NotFound, SignalSearchError

from budget.redis_ledger import RedisLedger
from infra.ids import secret_token
from infra.job_log import JobLog
from tests.chaos.faults import Fault
from tests.chaos.lane import HOST, Lane, NeverHappened, wait_for
from tests.chaos.points import Point
from tests.chaos.stage import facts
from tests.e2e.conftest import INTERVAL_S

REQUEST = RetrieveRequest(
    query="When is the harbour bridge opened for ships?",
    constraints=Constraints(source_prefs=SourcePrefs(only=(f"site:http://{HOST}/",))),
)
# What a caller may hear while something is broken: the store or the gateway does not answer. Never "internal".
HONEST = frozenset({"store_unavailable", "gateway_unreachable", "gateway_timed_out"})
# Nothing of an ended job may stay in the queues, in the ledger of steps or in the purse.
LEFTOVERS = (
    *("ss:{s:*}:step:*", "ss:{s:*}:due", "ss:{b}:open:*", "ss:{b}:holds"),
    *("ss:{f:*}:wait:*", "ss:{f:*}:req:*", "ss:{f:*}:queue:*", "ss:{f:*}:leases"),
)


@dataclass(frozen=True)
class Calm:
    """What the undisturbed job of a lane answered, and what it asked of the site."""

    facts: dict[str, Any]
    asked: Counter[str]


@dataclass
class Verdict:
    """What became of a cell; `resent` requests were made twice where that is allowed."""

    point: str
    fault: str
    wrong: str = ""
    resent: int = 0
    was_lost: bool = False
    seconds: float = 0.0

    @property
    def text(self) -> str:
        if self.wrong:
            return "FAIL"
        return "ok" + ("+1" if self.resent else "") + ("*" if self.was_lost else "")


class Caller:
    """A caller who submits with one key until it is accepted, and then looks until the job has ended."""

    def __init__(self, lane: Lane) -> None:
        self.lane = lane
        self.heard: Counter[str] = Counter()
        self.job_id = ""
        self.was_lost = False
        self._key = secret_token()
        self._thread = threading.Thread(target=self._submit)

    def start(self) -> None:
        self._thread.start()

    def _submit(self) -> None:
        ends = time.monotonic() + 60
        while not self.job_id and time.monotonic() < ends:
            job = self._ask(lambda: self.lane.http.submit(REQUEST, idempotency_key=self._key))
            self.job_id = job.id if job else ""

    def _ask(self, call: Any) -> Any:
        try:
            return call()
        except NotFound:
            raise
        except SignalSearchError as error:
            self.heard[error.code] += 1
            time.sleep(0.05)
            return None

    def _look(self, may_be_lost: bool) -> Job | None:
        try:
            job: Job | None = self._ask(lambda: self.lane.http.job(self.job_id))
        except NotFound:
            if not may_be_lost:
                raise
            self._again()
            return None
        return job if job and job.state in TERMINAL_STATES else None

    def _again(self) -> None:
        """The job is gone and the caller was told so: ask once more."""
        self.was_lost = True
        self.job_id = ""
        self._key = secret_token()
        self._submit()

    def finish(self, *, may_be_lost: bool) -> Result:
        self._thread.join()
        if not self.job_id:
            raise NeverHappened(f"the submission is accepted; heard {dict(self.heard)}")
        job: Job = wait_for("the job ends", lambda: self._look(may_be_lost))
        if job.state is not JobState.SUCCEEDED:
            raise AssertionError(f"the job ended as {job.state}: {job.error_code}")
        result: Result = wait_for(
            "the result is there", lambda: self._ask(lambda: self.lane.http.result(self.job_id))
        )
        return result


def calm(lane: Lane) -> Calm:
    """Run a job that nothing disturbs."""
    before = len(lane.requests())
    caller = Caller(lane)
    caller.start()
    result = caller.finish(may_be_lost=False)
    _check_accounts(lane, caller.job_id, result)
    asked = Counter(row["path"] for row in lane.requests()[before:])
    if not result.findings or set(asked.values()) != {1}:
        raise AssertionError(f"the undisturbed job is not as it should be: {asked}")
    return Calm(facts(result), asked)


def run(lane: Lane, point: Point, fault: Fault, expected: Calm) -> Verdict:
    """Disturb one job; never raises for what the product does wrong."""
    verdict = Verdict(point.name, fault.name)
    began = time.monotonic()
    try:
        _run(lane, point, fault, expected, verdict)
    except Exception as error:  # noqa: BLE001  whatever it was, the other cells are to be seen too
        verdict.wrong = f"{type(error).__name__}: {error}"
    finally:
        lane.release()
        verdict.seconds = time.monotonic() - began
    return verdict


def _run(lane: Lane, point: Point, fault: Fault, expected: Calm, verdict: Verdict) -> None:
    lane.forget_signs()
    lane.heal_site()
    lane.forget_replies()
    lane.wait_until_well()
    lane.deaths.clear()
    lost = lane.threads_lost()
    before = lane.requests()
    caller = Caller(lane)
    lane.arm(point, fault.action)
    caller.start()
    report = lane.sprung()
    victim = lane.name_of(report["leader"])
    fault.around(lane, point, caller.job_id)
    result = caller.finish(may_be_lost=fault.loses_job)
    verdict.was_lost = caller.was_lost
    lane.forget_signs()
    wrong = facts(result)
    if wrong != expected.facts:
        raise AssertionError(f"another result: {_differences(wrong, expected.facts)}")
    log = _check_accounts(lane, caller.job_id, result)
    _check_told(caller, fault)
    _check_deaths(lane, fault, victim)
    if lane.threads_lost() > lost:
        raise AssertionError("a thread of a worker ended by an error")
    rows = lane.requests()
    _check_gaps(rows[max(0, len(before) - 1) :])
    if not caller.was_lost:
        verdict.resent = _count_resent(rows[len(before) :], expected, log, report["at_ms"])
        if verdict.resent and not _may_resend(point, fault):
            raise AssertionError(f"{verdict.resent} requests were sent twice")


def _differences(one: dict[str, Any], other: dict[str, Any]) -> str:
    return "; ".join(
        f"{k}: {one[k]!r:.300} for {other[k]!r:.300}" for k in one if one[k] != other[k]
    )


def _check_accounts(lane: Lane, job_id: str, result: Result) -> list[LogEntry]:
    """Charged once, nothing held, nothing left over, one end in the log, and it is the last word."""
    wait_for("nothing is left over", lambda: not _leftovers(lane))
    balance = RedisLedger(lane.redis).balance(f"job:{job_id}")
    usage = msgspec.structs.asdict(result.usage)
    used = {str(name): amount for name, amount in balance.used.items() if amount}
    if used != {name: usage[name] for name in ("tokens", "calls", "fetches", "bytes")}:
        raise AssertionError(f"charged {used}, the result says {usage}")
    if any(balance.held.values()):
        raise AssertionError(f"still held: {balance.held}")
    entries = [entry for _id, entry in JobLog(lane.redis).read(job_id)]
    keys = [each.key for each in entries]
    ends = [each for each in entries if isinstance(each, Ended)]
    if len(ends) != 1 or entries[-1] is not ends[0] or len(keys) != len(set(keys)):
        raise AssertionError(f"the log is not whole: {keys}")
    return entries


def _leftovers(lane: Lane) -> list[bytes]:
    return [name for pattern in LEFTOVERS for name in lane.redis.scan_iter(pattern)]


def _check_told(caller: Caller, fault: Fault) -> None:
    odd = set(caller.heard) - HONEST - ({"result_expired"} if fault.loses_job else set())
    if odd:
        raise AssertionError(f"the caller heard {odd}")


def _check_deaths(lane: Lane, fault: Fault, victim: str) -> None:
    """Nobody died but who was killed; who was asked to stop did so by itself."""
    if fault.kills:
        wait_for("the victim ends", lambda: lane.deaths)
    wrong = [each for each in lane.deaths if each.name != victim or not fault.kills]
    if wrong:
        raise AssertionError(f"died as well: {wrong}")
    if fault.action == "stop" and lane.deaths[0].code not in {0, -15}:
        raise AssertionError(f"did not stop in good order: {lane.deaths}")


def _check_gaps(rows: list[dict[str, Any]]) -> None:
    gaps = [later["t_start"] - earlier["t_start"] for earlier, later in pairwise(rows)]
    if gaps and min(gaps) < INTERVAL_S * 1000:
        raise AssertionError(f"requests {min(gaps)} ms apart")


def _may_resend(point: Point, fault: Fault) -> bool:
    """A reply that nobody has stored yet goes with its process, or its lease ends while the store is away."""
    dies = fault.action in {"die", "die together"} and point.home == "crawl"
    return (dies and point.is_sending) or fault.stops_store


def _count_resent(
    rows: list[dict[str, Any]], expected: Calm, log: list[LogEntry], fault_ms: int
) -> int:
    """Count requests beyond the undisturbed ones; one whose end was logged before the fault has no excuse."""
    asked = Counter(row["path"] for row in rows)
    if set(asked) != set(expected.asked):
        raise AssertionError(f"asked {set(asked) ^ set(expected.asked)} differently")
    twice = {path for path in asked if asked[path] > expected.asked[path]}
    told = {
        e.url.split(HOST, 1)[-1] for e in log if isinstance(e, FetchFinished) and e.at_ms < fault_ms
    }
    if twice & told or any(asked[path] > 2 for path in twice):
        raise AssertionError(f"sent again without need: {twice}")
    return len(twice)
