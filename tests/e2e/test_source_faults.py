"""Every emulated source with every fault: the job ends, says which source failed, why and until when, and invents nothing.

The sources come from the loopback web's own table of hosts and from the catalogue, so that whoever adds an emulator
has added it here.
"""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from urllib.parse import urlsplit

import pytest
from signal_search.client import Client
from signal_search.contracts.query import Constraints, SourcePrefs
from signal_search.contracts.result import Result, SourceOutcome
from signal_search.contracts.source import Request, SourceQuery
from signal_search.errors import SignalSearchError

from infra import keys
from infra.catalog.catalog import SourceRow, shipped_rows
from infra.loopback_web.app import HOSTS
from infra.loopback_web.faults import Fault
from infra.loopback_web.server import LoopbackWeb
from infra.redis import connect
from infra.settings import load
from infra.stack import Parts, Stack
from tests.e2e.conftest import environment
from workers.registry import Registry

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

TIMEOUT_S = (
    6.0  # one of the sites answers after two seconds when it is well, and the machine may be busy
)
SHORT_S = 2  # what hosts ask for here, so that the next fault is not long in coming
QUESTIONS = ("How high is Mount Corvel?", "科维尔山海拔多少？", "What is CVE-1998-90001?")
ENDPOINTS = {"searxng": "http://searx.test/search"}
SETUP = {  # what some sources want to be asked at all
    "SIGNAL_SEARCH_SOURCES__ENDPOINTS": json.dumps(ENDPOINTS),
    "SIGNAL_SEARCH_SOURCES__MAILTO": "crawler@example.org",
}
KEYS = {  # in the form of the real ones, which the emulators insist on
    "brave": "BSA-key-of-tests",
    "exa": "01234567-89ab-cdef-0123-456789abcdef",
    "grok": "xai-key-of-tests",
    "tavily": "tvly-key-of-tests",
}


@dataclass(frozen=True)
class Mode:
    """A fault, and what the job must say of an API that has it. `rests`: the host is left alone for a while."""

    name: str
    fault: dict[str, object]
    reason: str
    rests: bool = True
    pages: bool = True  # whether a page shows the fault too: half a page is still a page
    readable: bool = False  # who looks at the first bytes may read it all the same


MODES = {
    each.name: each
    for each in (
        Mode("latency", {"latency_s": TIMEOUT_S + 0.5}, "source_timed_out"),
        Mode("429 with a time", {"status": 429, "retry_after": SHORT_S}, "source_rate_limited"),
        Mode("429 with a date", {"status": 429, "retry_date_s": SHORT_S}, "source_rate_limited"),
        Mode("a stall", {"stall_s": TIMEOUT_S + 0.5}, "source_timed_out"),
        Mode(
            "wrong charset",
            {"charset": "utf-16"},
            "source_bad_reply",
            rests=False,
            pages=False,
            readable=True,
        ),
        Mode("429 bare", {"status": 429}, "source_rate_limited"),
        Mode("503", {"status": 503}, "source_server_fault"),
        Mode("502 with a page", {"html_error": True}, "source_server_fault"),
        Mode(
            "200 with a page", {"status": 200, "html_error": True}, "source_bad_reply", False, False
        ),
        Mode("half a reply", {"truncate": True}, "source_bad_reply", False, False),
        Mode("reset", {"reset": True}, "source_unreachable"),
        Mode("captcha with 200", {"captcha_200": True}, "challenge"),
    )
}


@dataclass(frozen=True)
class Target:
    """A virtual host, the source that asks it, and a question that leads there."""

    host: str
    source_id: str
    question: str = QUESTIONS[0]
    is_api: bool = False


def targets_of(registry: Registry) -> dict[str, Target]:
    """Return the first source of the catalogue that asks each host first; else the host is asked as a site."""
    found = {host: Target(host, f"site:http://{host}/") for host in HOSTS}
    rows = [row for row in registry._rows.values() if not row.is_generic and row.access != "closed"]
    for row, question in product(reversed(rows), reversed(QUESTIONS)):
        first = _first_request(registry, row, question)
        host = urlsplit(first.url).hostname if first else None
        if first is not None and host in found:
            found[host] = Target(host, row.id, question, first.kind == "api")
    return found


def _first_request(registry: Registry, row: SourceRow, question: str) -> Request | None:
    language = "zh" if question == QUESTIONS[1] else "en"
    terms = tuple(question.strip("?？").split())
    ask = SourceQuery(text=question, terms=terms, language=language)
    return next(iter(registry._made(row).adapter.build(ask)), None)


Told = tuple[Result, float] | SignalSearchError


class Play:
    """A stack, its web, and the results of one job per host under each fault, asked for when first wanted."""

    def __init__(self, web: LoopbackWeb, stack: Stack) -> None:
        self.targets = targets_of(Registry(load()))
        self._web = web
        self._stack = stack
        self._seen: dict[str, dict[str, Told]] = {}

    def result(self, mode: Mode, host: str) -> tuple[Result, float]:
        """Return the result for a host and the time, in epoch seconds, at which its job began."""
        if mode.name not in self._seen:
            self._seen[mode.name] = self._all(mode)
        found = self._seen[mode.name][host]
        assert not isinstance(found, SignalSearchError), found.message
        return found

    def _all(self, mode: Mode) -> dict[str, Told]:
        self._web.faults.clear()
        for host in HOSTS:
            self._web.faults.add(Fault(host=host, count=None, **mode.fault))  # type: ignore[arg-type]
        with ThreadPoolExecutor(20) as pool:
            found = dict(zip(HOSTS, pool.map(self._ask, self.targets.values()), strict=True))
        self._web.faults.clear()
        return found

    def _ask(self, target: Target) -> Told:
        began_s = time.time()
        try:
            return self.ask(target.question, target.source_id), began_s
        except SignalSearchError as error:  # told by the test of this host alone
            return error

    def heal(self) -> None:
        """End every fault, and forget what was learned of the hosts meanwhile: it grows with each failure."""
        self._web.faults.clear()
        redis = connect(self._stack.redis_url)
        for pattern in (keys.robots("*"), keys.trouble("*")):
            for name in redis.scan_iter(pattern):
                redis.delete(name)
        redis.close()

    def spoil(self, host: str, **fault: object) -> None:
        """Let one host alone be at fault, until further notice."""
        self._web.faults.clear()
        self._web.faults.add(Fault(host=host, count=None, **fault))  # type: ignore[arg-type]

    def slow(self, host: str, seconds: float) -> None:
        """Let a host answer well, but late, besides what is at fault."""
        self._web.faults.add(Fault(host=host, count=None, latency_s=seconds))

    def ask(self, question: str, *source_ids: str, **constraints: str) -> Result:
        """Return what these sources give for a question."""
        prefs = SourcePrefs(only=source_ids)
        wanted = Constraints(source_prefs=prefs, deadline_s=50, **constraints)  # type: ignore[arg-type]
        with Client(redis_url=self._stack.redis_url) as client:
            return client.retrieve(question, wanted)


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    keys = {
        row.key_env: KEYS.get(row.id, "key-of-these-tests") for row in shipped_rows() if row.key_env
    }
    more = {
        **keys,
        "SIGNAL_SEARCH_FETCH__TOTAL_TIMEOUT_S": str(TIMEOUT_S),
        "SIGNAL_SEARCH_POLITENESS__BACKOFF_BASE_S": str(SHORT_S),
        "SIGNAL_SEARCH_POLITENESS__BACKOFF_CAP_S": str(SHORT_S),
        "SIGNAL_SEARCH_ROBOTS__UNREACHABLE_TTL_S": "1",
        **SETUP,
        "SIGNAL_SEARCH_CACHE__MAX_TTL_S": "0",
        "SIGNAL_SEARCH_CACHE__STALE_IF_ERROR_S": "0",
    }
    with pytest.MonkeyPatch.context() as patch, LoopbackWeb() as web:
        for name, value in (keys | SETUP).items():
            patch.setenv(
                name, value
            )  # whether a source can be asked is looked at at the door as well
        settings = load(data_dir=str(tmp_path_factory.mktemp("faults")), redis_url="")
        parts = Parts(workers={"crawl": 2, "reduce": 1})
        stack = Stack(settings, parts, environment=environment(web.port, **more))
        stack.start()
        try:
            yield Play(web, stack)
        finally:
            stack.stop()


def outcome_of(result: Result) -> SourceOutcome:
    [outcome] = result.source_outcomes
    return outcome


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("name", MODES)
def test_a_source_with_a_fault_is_named_with_its_reason(play: Play, name: str, host: str) -> None:
    mode, target = MODES[name], play.targets[host]
    result, began_s = play.result(mode, host)
    outcome = outcome_of(result)
    if not mode.pages and not target.is_api:
        assert outcome.state == "answered" or outcome.reason
        return
    assert outcome.source_id == target.source_id
    if mode.readable and outcome.state in {"answered", "no_results"}:
        assert all("\ufffd" not in each.text for each in result.findings)
        return
    assert (outcome.documents, result.findings, result.confidence) == (0, (), 0.0)
    assert result.stop.reason == "no_source_reached"
    assert outcome.reason in reasons(mode, target)
    assert outcome.state == ("failed" if outcome.reason.startswith("source_") else "refused")
    assert outcome.detail
    assert result.degradations
    assert all(each.startswith(f"{target.source_id}: ") for each in result.degradations)
    if mode.rests:
        assert datetime.fromisoformat(outcome.until).timestamp() > began_s


def reasons(mode: Mode, target: Target) -> set[str]:
    """An API must name its fault; of a site it may be robots.txt that cannot be read."""
    return {mode.reason} if target.is_api else {mode.reason, "robots_unreachable"}


def test_a_job_goes_on_without_a_source_that_fails(play: Play) -> None:
    # The other is slow: a source that fails may go unasked when another has given the answer before its turn, and its
    # turn comes late while its host still rests from an earlier fault.
    play.spoil("api.crossref.org", status=503)
    play.slow("en.wikipedia.org", TIMEOUT_S / 2)
    result = play.ask(QUESTIONS[0], "crossref", "wikipedia")
    states = {each.source_id: (each.state, each.reason) for each in result.source_outcomes}
    assert states["crossref"] == ("failed", "source_server_fault")
    assert states["wikipedia"][0] == "answered"
    assert result.findings
    assert "crossref: source_server_fault" in result.degradations


def test_what_is_filtered_out_is_neither_failed_nor_no_results(play: Play) -> None:
    play.heal()
    result = play.ask(
        "What happened on the islands?",
        "feed:http://news.test/feed.xml",
        freshness="1990-01-01..1990-12-31",
    )
    outcome = outcome_of(result)
    assert (outcome.state, outcome.reason) == ("filtered", "")
    assert outcome.documents > 0
    assert result.findings == ()


def test_a_source_that_knows_nothing_says_so(play: Play) -> None:
    play.heal()
    outcome = outcome_of(play.ask("qqxzv wkkpj zzyqx?", "crossref"))
    assert (outcome.state, outcome.documents) == ("no_results", 0)
