"""Fifty hosts, three crawl workers: nobody is asked what they forbid, too soon or twice at once, and all is told.

The server is a script of bytes (tests/fakes/rough_web.py), everything else is the real stack. Judged by the server's
own log, by the jobs' traces and by what the kernel says of the workers' memory.
"""

import json
import re
import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import pytest
from signal_search.client import Client
from signal_search.contracts.result import Result, SourceOutcome

from infra.bundle import unpack
from infra.settings import load
from infra.stack import Parts, Stack
from scoring.addresses import address_key
from tests.fakes.fifty_hosts import QUESTION, Host, address, fifty_hosts, routed
from tests.fakes.rough_web import RoughWeb, Seen, running

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

INTERVAL_S = 0.2
BACKOFF_S = 40.0
LIMIT_MIB = 400  # a parser with its models is about 230
HOSTS = fifty_hosts(BACKOFF_S)
NUMBERS = range(1, len(HOSTS) + 1)
NAMES = [f"{address(at)}-{each.name}" for at, each in enumerate(HOSTS, 1)]
GROWTH_MIB = 32  # of a worker, which must never hold a body unpacked
RULED = [
    at
    for at, each in enumerate(HOSTS, 1)
    if each.forbidden and (each.asked or each.ends == "robots")
]
each_host = pytest.mark.parametrize("number", NUMBERS, ids=NAMES)


def host(number: int) -> Host:
    return HOSTS[number - 1]


class Memory:
    """The largest resident size of every process of a set of sessions, sampled until stopped."""

    def __init__(self, leaders: set[int]) -> None:
        self.first: dict[int, int] = {}
        self.peak: dict[int, int] = defaultdict(int)
        self._leaders = leaders
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._look()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(0.05):
            self._look()

    def _look(self) -> None:
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit() and (size := _resident_mib(folder, self._leaders)):
                self.first.setdefault(int(folder.name), size)
                self.peak[int(folder.name)] = max(self.peak[int(folder.name)], size)


def _resident_mib(folder: Path, leaders: set[int]) -> int:
    try:
        session = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[3])
        found = re.search(r"VmRSS:\s+(\d+) kB", (folder / "status").read_text())
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return int(found[1]) // 1024 if found and session in leaders else 0


@dataclass
class Crawled:
    """What came of it all."""

    results: dict[int, Result] = field(default_factory=dict)
    texts: dict[int, list[str]] = field(default_factory=dict)
    leaders: set[int] = field(default_factory=set)
    log: list[Seen] = field(default_factory=list)
    memory: Memory = field(default_factory=lambda: Memory(set()))

    def at(self, number: int) -> list[Seen]:
        """Return the requests to a host in the order they came."""
        return sorted(each for each in self.log if each.host == address(number))

    def paths(self, number: int) -> list[str]:
        return [each.target for each in self.at(number)]

    def last_s(self, number: int) -> float:
        """Return when the last exchange with a host was over, as epoch seconds."""
        return max(each.end_s for each in self.at(number)) + time.time() - time.monotonic()

    def outcome(self, number: int) -> SourceOutcome:
        [outcome] = self.results[number].source_outcomes
        return outcome

    def ends(self, number: int) -> list[dict[str, Any]]:
        """Return what the trace says of each fetch that ended."""
        trace = self.results[number].trace
        return [each.data for each in trace if each.name == "fetch_finished"]


def environment(web: RoughWeb) -> dict[str, str]:
    targets = {address(number): f"127.0.0.1:{web.port}" for number in NUMBERS}
    return {
        "SIGNAL_SEARCH_LOOPBACK__HOSTS": json.dumps(targets),
        "SIGNAL_SEARCH_POLITENESS__LOOPBACK_INTERVAL_S": str(INTERVAL_S),
        "SIGNAL_SEARCH_POLITENESS__BACKOFF_BASE_S": str(BACKOFF_S),
        "SIGNAL_SEARCH_FETCH__TOTAL_TIMEOUT_S": "6",
        "SIGNAL_SEARCH_QUEUE__RECHECK_S": "1",
    }


def ask(redis_url: str, number: int) -> tuple[Result, list[str]]:
    """Return the result of a job for one host, and the texts it found."""
    with Client(redis_url=redis_url) as client:
        result = client.retrieve(QUESTION, sources=[f"site:http://{address(number)}/"])
        return result, [each.text for each in unpack(client.bundle(result.job_id)).documents]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """Let three crawl workers ask all hosts, twenty jobs at a time."""
    found = Crawled()
    with running(routed(HOSTS)) as web:
        settings = load(data_dir=str(tmp_path_factory.mktemp("fifty")), redis_url="")
        stack = Stack(
            settings, Parts(workers={"crawl": 3, "reduce": 1}), environment=environment(web)
        )
        stack.start()
        found.leaders = {each.child.pid for each in stack.processes if each.child.pid}
        found.memory = Memory(found.leaders)
        try:
            with found.memory, ThreadPoolExecutor(20) as pool:
                done = list(pool.map(lambda number: ask(stack.redis_url, number), NUMBERS))
        finally:
            stack.stop()
        found.log = list(web.log)
    found.results = {number: result for number, (result, _texts) in zip(NUMBERS, done, strict=True)}
    found.texts = {number: texts for number, (_result, texts) in zip(NUMBERS, done, strict=True)}
    return found


def test_there_are_fifty() -> None:
    assert len(HOSTS) == len({each.name for each in HOSTS}) == 50


def test_every_request_names_us_and_is_for_a_host_of_ours(crawled: Crawled) -> None:
    assert {each.host for each in crawled.log} == {address(number) for number in NUMBERS}
    assert {each.agent for each in crawled.log} == {load().fetch.user_agent}


@each_host
def test_nothing_is_asked_before_robots_and_nothing_that_is_forbidden(
    crawled: Crawled, number: int
) -> None:
    paths = crawled.paths(number)
    assert paths[0] == "/robots.txt"
    assert paths.count("/robots.txt") == 1
    assert not set(paths) & set(host(number).forbidden)
    assert set(host(number).asked) <= set(paths)


@each_host
def test_no_page_is_asked_for_twice(crawled: Crawled, number: int) -> None:
    """Whatever leads back to it: links in other words, trackers, circles of redirects."""
    asked = [address_key(f"http://{address(number)}{path}") for path in crawled.paths(number)]
    assert len(set(asked)) == len(asked)


@each_host
def test_one_at_a_time_and_never_too_soon(crawled: Crawled, number: int) -> None:
    seen = crawled.at(number)
    assert [each.ahead for each in seen] == [0] * len(seen)
    least_s = max(INTERVAL_S, host(number).least_s)
    pages = (
        seen if least_s == INTERVAL_S else seen[1:]
    )  # the delay is known once robots.txt was read
    gaps = [later.start_s - earlier.start_s for earlier, later in pairwise(pages)]
    assert all(gap >= least_s for gap in gaps), gaps


@each_host
def test_the_trace_names_what_became_of_the_start_page(crawled: Crawled, number: int) -> None:
    wanted = host(number)
    first = crawled.ends(number)[0]
    assert first["url"] == f"http://{address(number)}/"
    state = "redirected" if wanted.reason == "redirected" else "fetched"
    if wanted.reason in {"", "redirected"}:
        assert (first["state"], first.get("reason", "")) == (state, "")
        return
    assert first["state"] == ("missed" if wanted.reason.startswith("source_") else "skipped")
    assert first["reason"] == wanted.reason
    assert wanted.detail in first["detail"]
    assert first["detail"]


@pytest.mark.parametrize("number", RULED, ids=[NAMES[number - 1] for number in RULED])
def test_a_forbidden_page_is_refused_with_the_line_that_forbids_it(
    crawled: Crawled, number: int
) -> None:
    told = {each["url"]: each for each in crawled.ends(number)}
    for target in host(number).forbidden:
        end = told[f"http://{address(number)}{target}"]
        assert (end["state"], end["reason"]) == ("skipped", "robots")
        assert end["detail"].lower().startswith("dis")


@each_host
def test_the_source_is_told_as_it_was(crawled: Crawled, number: int) -> None:
    """What failed or was refused is neither an answer nor "no results", and everything has its reason."""
    wanted, outcome, result = host(number), crawled.outcome(number), crawled.results[number]
    if outcome.state == "answered":
        assert (wanted.reason in {"", "redirected"}, outcome.reason) == (True, "")
        assert any(wanted.says in text for text in crawled.texts[number])
        return
    assert wanted.reason
    reason = wanted.ends or wanted.reason
    assert outcome.state == ("failed" if reason.startswith("source_") else "refused")
    assert (outcome.reason, bool(outcome.detail)) == (reason, True)
    assert result.degradations == (f"site:http://{address(number)}/: {reason}",)
    assert (result.stop.reason, result.findings, result.confidence) == (
        "no_source_reached",
        (),
        0.0,
    )


@each_host
def test_it_is_told_when_a_host_opens_again(crawled: Crawled, number: int) -> None:
    bounds = host(number).until_s
    if bounds is None:
        assert crawled.outcome(number).until == "" or host(number).reason.startswith("source_")
        return
    opens_s = datetime.fromisoformat(crawled.outcome(number).until).timestamp()
    assert bounds[0] <= opens_s - crawled.last_s(number) <= bounds[1]


def test_memory_stays_bounded(crawled: Crawled) -> None:
    """A body of 200 MB unpacked, read by anyone, would show; parsers load a page's libraries once."""
    memory = crawled.memory
    assert len(memory.peak) >= 4 + 3  # the workers and their parsers
    assert max(memory.peak.values()) < LIMIT_MIB, memory.peak
    workers = {pid: memory.peak[pid] - memory.first[pid] for pid in crawled.leaders}
    assert max(workers.values()) < GROWTH_MIB, workers
