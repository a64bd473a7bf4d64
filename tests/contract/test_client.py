"""The client over real HTTP against a double of the wire format; Client and AsyncClient under the same cases."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint, EntryPoints
from typing import Any

import pytest
import signal_search
from msgspec import structs
from signal_search.client import AsyncClient, Client, Update, build_request, transport
from signal_search.client.http import HttpTransport
from signal_search.contracts.budget import Budget
from signal_search.contracts.job import JobState
from signal_search.contracts.query import Constraints, RetrieveRequest, SourcePrefs
from signal_search.contracts.trace import Ended, FetchFinished, Submitted
from signal_search.errors import (
    Broken,
    Busy,
    Conflict,
    Failed,
    Gone,
    Invalid,
    NotFound,
    SignalSearchError,
    StoreFailed,
    Unauthorized,
    Unsupported,
)

from tests.fakes.results import a_result
from tests.fakes.wire_gateway import BUNDLE, JOB_ID, Fault, WireGateway, a_log, wire_gateway

QUESTION = "What is WAL?"


class SteppingTiming:
    """Time that passes only by pauses, and a little with each reading."""

    def __init__(self, step: float = 0.0) -> None:
        self.now = 100.0
        self.step = step
        self.pauses: list[float] = []

    def monotonic(self) -> float:
        self.now += self.step
        return self.now

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


class AsyncFace:
    """An AsyncClient called like a Client, so that one suite holds both to the same conduct."""

    def __init__(self, url: str | None, **options: Any) -> None:
        self._url = url
        self._options = options

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            return asyncio.run(self._run(name, args, kwargs))

        return call

    async def _run(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        async with AsyncClient(self._url, **self._options) as client:
            called = getattr(client, name)(*args, **kwargs)
            if hasattr(called, "__aiter__"):
                return [each async for each in called]
            return await called


@pytest.fixture
def gateway() -> Iterator[WireGateway]:
    with wire_gateway() as running:
        yield running


Connect = Callable[..., Any]


@pytest.fixture(params=["blocking", "asyncio"])
def connect(request: pytest.FixtureRequest, gateway: WireGateway) -> Iterator[Connect]:
    opened: list[Client] = []

    def make(**options: Any) -> Any:
        options.setdefault("timing", SteppingTiming())
        if request.param == "asyncio":
            return AsyncFace(gateway.url, **options)
        opened.append(Client(gateway.url, **options))
        return opened[-1]

    yield make
    for client in opened:
        client.close()


def test_retrieve_returns_the_result_as_the_gateway_has_it(
    gateway: WireGateway, connect: Connect
) -> None:
    result = connect().retrieve(
        QUESTION, {"language": "en"}, 5000, depth="quick", sources=["arxiv"]
    )
    assert result == a_result()
    sent = json.loads(gateway.seen[0].body)
    assert sent["query"] == QUESTION
    assert sent["constraints"]["language"] == "en"
    assert sent["constraints"]["source_prefs"]["only"] == ["arxiv"]
    assert (sent["budget"], sent["depth"]) == (5000, "quick")
    assert gateway.paths("DELETE") == []


def test_progress_tells_every_entry_with_the_jobs_state(
    gateway: WireGateway, connect: Connect
) -> None:
    updates: list[Update] = []
    connect(timing=SteppingTiming(step=0.3)).retrieve(QUESTION, on_progress=updates.append)
    assert [each.entry for each in updates if each.entry] == a_log()
    assert updates[-1].job.state is JobState.SUCCEEDED
    assert updates[-1].job.progress.documents == 2


def test_a_lost_reply_to_a_submission_makes_one_job(gateway: WireGateway, connect: Connect) -> None:
    gateway.script.faults = [Fault("POST", "/v1/retrieve")]
    assert connect().submit(RetrieveRequest(query=QUESTION)).id == JOB_ID
    keys = [each.headers["idempotency-key"] for each in gateway.seen]
    assert len(keys) == 2
    assert keys[0] == keys[1]
    assert gateway.jobs_made == 1


def test_two_submissions_have_two_keys(gateway: WireGateway, connect: Connect) -> None:
    client = connect()
    client.submit(RetrieveRequest(query=QUESTION))
    client.submit(RetrieveRequest(query=QUESTION))
    assert gateway.jobs_made == 2


def test_a_key_of_the_callers_is_sent(gateway: WireGateway, connect: Connect) -> None:
    connect().submit(RetrieveRequest(query=QUESTION), idempotency_key="mine")
    assert gateway.seen[0].headers["idempotency-key"] == "mine"


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_honoured(gateway: WireGateway, connect: Connect, status: int) -> None:
    code = "rate_limited" if status == 429 else "store_unavailable"
    gateway.script.faults = [Fault("GET", JOB_ID, status, code, {"Retry-After": "7"})]
    timing = SteppingTiming()
    assert connect(timing=timing).job(JOB_ID).id == JOB_ID
    assert timing.pauses == [7.0]


def test_a_retry_after_beyond_patience_is_told_at_once(
    gateway: WireGateway, connect: Connect
) -> None:
    gateway.script.faults = [Fault("GET", JOB_ID, 429, "rate_limited", {"Retry-After": "31"})]
    timing = SteppingTiming()
    with pytest.raises(Busy) as caught:
        connect(timing=timing).job(JOB_ID)
    assert caught.value.retry_after_s == 31.0
    assert timing.pauses == []


def test_retries_are_bounded(gateway: WireGateway, connect: Connect) -> None:
    gateway.script.faults = [Fault("GET", JOB_ID, 503, "store_unavailable") for _ in range(9)]
    timing = SteppingTiming()
    with pytest.raises(StoreFailed):
        connect(timing=timing).job(JOB_ID)
    assert timing.pauses == [0.25, 0.5, 1.0]


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "unauthorized", Unauthorized),
        (404, "job_not_found", NotFound),
        (409, "idempotency_conflict", Conflict),
        (410, "result_expired", Gone),
        (422, "invalid_request", Invalid),
        (422, "unsupported_requirements", Unsupported),
        (422, "a_code_of_tomorrow", Invalid),
        (500, "internal", Broken),
        (502, "a_code_of_tomorrow", Failed),
    ],
)
def test_errors_become_their_classes(
    gateway: WireGateway, connect: Connect, status: int, code: str, kind: type[SignalSearchError]
) -> None:
    gateway.script.faults = [Fault("GET", JOB_ID, status, code)]
    with pytest.raises(SignalSearchError) as caught:
        connect().job(JOB_ID)
    assert type(caught.value) is kind
    assert (caught.value.code, caught.value.message) == (code, f"said {code}")
    assert caught.value.field == ("query" if status == 422 else None)


def test_a_proxys_error_page_is_told_by_its_status(gateway: WireGateway, connect: Connect) -> None:
    gateway.script.faults = [Fault("GET", JOB_ID, 502, raw=b"<h1>secret</h1>")]
    with pytest.raises(Failed) as caught:
        connect().job(JOB_ID)
    assert caught.value.message == "the gateway answered with status 502"


def test_a_reply_that_is_no_job_is_a_bad_reply(gateway: WireGateway, connect: Connect) -> None:
    gateway.script.faults = [Fault("GET", JOB_ID, 200, raw=b"<html>")]
    with pytest.raises(Failed) as caught:
        connect().job(JOB_ID)
    assert caught.value.code == "gateway_bad_reply"


def test_a_gateway_that_is_not_there(connect: Connect) -> None:
    timing = SteppingTiming()
    client = connect(timing=timing, transport=None)
    gone = (
        Client("http://127.0.0.1:9", timing=timing)
        if isinstance(client, Client)
        else AsyncFace("http://127.0.0.1:9", timing=timing)
    )
    with pytest.raises(Failed) as caught:
        gone.job(JOB_ID)
    assert caught.value.code == "gateway_unreachable"
    assert "127.0.0.1" not in caught.value.message
    assert timing.pauses == [0.25, 0.5, 1.0]
    if isinstance(gone, Client):
        gone.close()


def test_the_token_is_sent(gateway: WireGateway, connect: Connect) -> None:
    gateway.script.token = "sst_x"
    assert connect(token="sst_x").job(JOB_ID).id == JOB_ID
    with pytest.raises(Unauthorized):
        connect().job(JOB_ID)


def test_events_resume_where_a_connection_was_lost(gateway: WireGateway, connect: Connect) -> None:
    gateway.script.cut_after = 3
    got = list(connect().events(JOB_ID))
    assert got == [(f"{number}-0", entry) for number, entry in enumerate(a_log(), 1)]
    resumed = [
        each.headers.get("last-event-id") for each in gateway.seen if each.path.endswith("/events")
    ]
    assert resumed == [None, "3-0", "6-0"]


def test_events_can_begin_behind_a_known_one(gateway: WireGateway, connect: Connect) -> None:
    assert [type(entry) for _, entry in connect().events(JOB_ID, after="7-0")] == [Ended]


def test_events_survive_line_separators_inside_json(gateway: WireGateway, connect: Connect) -> None:
    (finished,) = [
        entry for _, entry in connect().events(JOB_ID) if isinstance(entry, FetchFinished)
    ]
    assert finished.url == "https://export.arxiv.org/api/query?q=a\u2028b"


def test_events_without_a_stream_are_an_error(gateway: WireGateway, connect: Connect) -> None:
    gateway.script.streams = False
    with pytest.raises(SignalSearchError) as caught:
        list(connect().events(JOB_ID))
    assert caught.value.status == 405


def test_an_entry_of_tomorrow_is_passed_over(gateway: WireGateway, connect: Connect) -> None:
    raw = b'id: 1-0\nevent: dreamt\ndata: {"type":"dreamt"}\n\nid: 2-0\ndata: {"type":"ended","at_ms":1,"key":"k","state":"succeeded"}\n\n'
    gateway.script.faults = [
        Fault("GET", "/events", 200, raw=raw, headers={"Content-Type": "text/event-stream"})
    ]
    assert [event_id for event_id, _ in connect().events(JOB_ID)] == ["2-0"]


def test_without_a_stream_the_job_is_polled(gateway: WireGateway, connect: Connect) -> None:
    gateway.script.streams = False
    gateway.script.polls_to_end = 6
    timing = SteppingTiming()
    assert connect(timing=timing).retrieve(QUESTION) == a_result()
    assert timing.pauses == [0.5, 1.0, 2.0, 4.0, 5.0]
    assert gateway.paths("GET").count(f"/v1/jobs/{JOB_ID}/events") == 1


def test_a_page_instead_of_a_stream_is_polled_too(gateway: WireGateway, connect: Connect) -> None:
    gateway.script.faults = [Fault("GET", "/events", 200, raw=b"<html>")]
    gateway.script.polls_to_end = 2
    assert connect().retrieve(QUESTION) == a_result()


def test_the_restart_of_a_gateway_is_outlived(gateway: WireGateway, connect: Connect) -> None:
    gateway.script.cut_after = 3
    gateway.script.polls_to_end = 99
    gateway.script.faults = [Fault("GET", JOB_ID, 503, "store_unavailable") for _ in range(10)]
    timing = SteppingTiming()
    gateway.script.state = JobState.SUCCEEDED
    seen: list[Update] = []

    def end_it(update: Update) -> None:
        seen.append(update)
        gateway.script.polls_to_end = 0 if isinstance(update.entry, Ended) else 99

    assert connect(timing=timing).retrieve(QUESTION, on_progress=end_it) == a_result()
    assert [each.entry for each in seen if each.entry] == a_log()
    assert sum(timing.pauses) > 20


def test_a_stale_view_of_progress_is_better_than_none(
    gateway: WireGateway, connect: Connect
) -> None:
    gateway.script.faults = [Fault("GET", JOB_ID, 503, "store_unavailable") for _ in range(99)]
    updates: list[Update] = []
    result = connect(timing=SteppingTiming(step=2.0)).retrieve(QUESTION, on_progress=updates.append)
    assert result == a_result()
    assert updates[-1].job.state is JobState.SUCCEEDED


def test_a_job_is_followed_to_its_end(gateway: WireGateway, connect: Connect) -> None:
    updates = list(connect().follow(JOB_ID))
    assert [each.entry for each in updates if each.entry] == a_log()
    assert [each.event_id for each in updates][-1] == "8-0"


class OverWhenHeard:
    """Time that is over as soon as the gateway was asked for events: not sooner, however slow the machine."""

    def __init__(self, gateway: WireGateway) -> None:
        self._gateway = gateway

    def monotonic(self) -> float:
        asked = any(each.path.endswith("/events") for each in list(self._gateway.seen))
        return 1000.0 if asked else 0.0

    async def pause(self, seconds: float) -> None:
        """Return at once."""


@pytest.mark.parametrize("how", ["alive", "silent"])
def test_a_timeout_cancels_the_job(gateway: WireGateway, how: str) -> None:
    """What is silent is left after the time that was, when it was asked, left to wait."""
    gateway.script.endless = how
    timing = OverWhenHeard(gateway)
    with Client(gateway.url, timing=timing) as client, pytest.raises(Failed) as caught:
        client.retrieve(QUESTION, timeout=0.3)
    assert caught.value.code == "client_timeout"
    assert gateway.cancelled.is_set()
    assert gateway.paths("DELETE") == [f"/v1/jobs/{JOB_ID}"]


def test_ctrl_c_cancels_the_job(gateway: WireGateway, connect: Connect) -> None:
    gateway.script.endless = "alive"

    def interrupt(update: Update) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        connect().retrieve(QUESTION, on_progress=interrupt)
    assert gateway.paths("DELETE") == [f"/v1/jobs/{JOB_ID}"]


def test_a_cancelled_task_cancels_its_job(gateway: WireGateway) -> None:
    gateway.script.endless = "alive"

    async def scenario() -> None:
        async with AsyncClient(gateway.url) as client:
            started = asyncio.Event()
            task = asyncio.create_task(
                client.retrieve(QUESTION, on_progress=lambda _: started.set())
            )
            await started.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(scenario())
    assert gateway.cancelled.is_set()


@pytest.mark.parametrize(
    ("state", "error_code", "expected"),
    [
        (JobState.CANCELLED, "", "job_cancelled"),
        (JobState.EXPIRED, "", "job_expired"),
        (JobState.FAILED, "source_unreachable", "source_unreachable"),
        (JobState.FAILED, "", "job_failed"),
    ],
)
def test_a_job_without_a_result_says_what_became_of_it(
    gateway: WireGateway, connect: Connect, state: JobState, error_code: str, expected: str
) -> None:
    gateway.script.state = state
    gateway.script.error_code = error_code
    log = a_log(state)
    log[-1] = structs.replace(log[-1], error_code=error_code)
    gateway.script.log = log
    with pytest.raises(SignalSearchError) as caught:
        connect().retrieve(QUESTION)
    assert caught.value.code == expected
    assert gateway.paths("DELETE") == []


def test_an_expired_result_is_gone_even_if_the_job_succeeded(
    gateway: WireGateway, connect: Connect
) -> None:
    gateway.script.expired = True
    with pytest.raises(Gone):
        connect().retrieve(QUESTION)


def test_leaving_follow_does_not_cancel(gateway: WireGateway) -> None:
    gateway.script.endless = "alive"
    with Client(gateway.url) as client:
        for update in client.follow(JOB_ID):
            assert isinstance(update.entry, Submitted | None)
            if update.entry:
                break
    assert gateway.paths("DELETE") == []


def test_the_small_calls(gateway: WireGateway, connect: Connect) -> None:
    client = connect()
    jobs, cursor = client.jobs(state=JobState.SUCCEEDED, limit=5)
    assert ([job.id for job in jobs], cursor) == ([JOB_ID], "c2")
    assert gateway.seen[-1].query == {"state": "succeeded", "limit": "5"}
    assert (
        client.export(JOB_ID, "ris").count("\r\n") == client.export(JOB_ID, "ris").count("\n") > 10
    )
    assert client.bundle(JOB_ID) == BUNDLE
    assert [source.id for source in client.sources()] == ["arxiv"]
    assert client.result(JOB_ID) == a_result()
    with pytest.raises(Conflict):
        client.cancel(JOB_ID)
    with pytest.raises(NotFound):
        client.job("../job_x?y")
    assert gateway.seen[-1].path == "/v1/jobs/..%2Fjob_x%3Fy"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": "x", "constraints": {"freshness": "yesterday"}}, "constraints.freshness"),
        ({"query": "x", "constraints": {"colour": "red"}}, "constraints"),
        ({"query": "x", "constraints": Constraints(max_sources=51)}, "constraints.max_sources"),
        ({"query": "x", "budget": -1}, "budget"),
        ({"query": "x", "budget": Budget(calls=-1)}, "budget.calls"),
        ({"query": "x", "depth": "bottomless"}, "depth"),
        ({"query": "x", "sources": "arxiv"}, "sources"),
        ({"query": "x", "sources": [""]}, "constraints.source_prefs.only[0]"),
    ],
)
def test_a_mistake_is_told_before_anything_is_sent(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as caught:
        build_request(**arguments)
    assert caught.value.field == field
    assert "yesterday" not in str(caught.value)


def test_sources_take_the_place_of_only_and_leave_the_rest() -> None:
    prefs = SourcePrefs(boost=("a.org",), only=("b",))
    request = build_request("x", Constraints(source_prefs=prefs), sources=("feed:https://c.org/f",))
    assert request.constraints.source_prefs == SourcePrefs(
        boost=("a.org",), only=("feed:https://c.org/f",)
    )


@pytest.mark.parametrize("url", ["ftp://x", "nonsense", "http://", "http://[::1"])
def test_a_malformed_address_is_refused(url: str) -> None:
    with pytest.raises(Invalid) as caught:
        HttpTransport(url)
    assert caught.value.field == "gateway_url"


def test_a_token_that_no_header_can_carry_is_refused() -> None:
    with pytest.raises(Invalid):
        Client("http://127.0.0.1:9", token="a\nb")


def test_two_addresses_are_refused() -> None:
    with pytest.raises(Invalid):
        Client("http://127.0.0.1:9", redis_url="redis://127.0.0.1:9")
    with pytest.raises(Invalid):
        AsyncClient("http://127.0.0.1:9", redis_url="redis://127.0.0.1:9")


class Recorded(HttpTransport):
    """A transport of another room: made by a factory that an entry point names."""

    made: list[tuple[str | None, str | None]] = []
    gateway_url = ""

    def __init__(self, redis_url: str | None, token: str | None) -> None:
        self.made.append((redis_url, token))
        super().__init__(self.gateway_url, token)


def entries(**values: str) -> Callable[..., EntryPoints]:
    points = EntryPoints(EntryPoint(name, value, transport.GROUP) for name, value in values.items())
    return lambda *, group, name: points.select(group=group, name=name)


@pytest.mark.parametrize(
    ("redis_url", "name"), [("redis://127.0.0.1:1", "redis"), (None, "embedded")]
)
def test_other_transports_come_from_entry_points(
    gateway: WireGateway, monkeypatch: pytest.MonkeyPatch, redis_url: str | None, name: str
) -> None:
    monkeypatch.setitem(sys.modules, "another_room", sys.modules[__name__])
    monkeypatch.setattr(transport, "entry_points", entries(**{name: "another_room:Recorded"}))
    monkeypatch.setattr(Recorded, "gateway_url", gateway.url)
    Recorded.made.clear()
    with Client(redis_url=redis_url, token="t") as client:
        assert client.retrieve(QUESTION) == a_result()

    async def scenario() -> None:
        async with AsyncClient(redis_url=redis_url, token="t") as other:
            assert await other.retrieve(QUESTION) == a_result()
            assert [
                type(entry)
                for _, entry in [each async for each in other.events(JOB_ID, after="7-0")]
            ] == [Ended]

    asyncio.run(scenario())
    assert Recorded.made == [(redis_url, "t")] * 2


def test_a_missing_or_broken_transport_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "entry_points", entries(embedded="no_such_room:open"))
    with pytest.raises(Unsupported, match="broken"):
        Client()
    with pytest.raises(Unsupported, match="no redis transport"):
        Client(redis_url="redis://127.0.0.1:1")


def test_the_front_door_opens_lazily() -> None:
    code = (
        "import sys, signal_search, signal_search.contracts.trace, signal_search.citations\n"
        "assert 'httpx' not in sys.modules\n"
        "from signal_search import AsyncClient, Client, Result, retrieve\n"
        "assert 'httpx' in sys.modules and 'typer' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert set(signal_search.__all__) <= {*dir(signal_search), *signal_search._OF_THE_CLIENT}
    with pytest.raises(AttributeError):
        signal_search.nonsense  # noqa: B018


def test_one_question_by_the_function(gateway: WireGateway) -> None:
    assert signal_search.retrieve(QUESTION, gateway_url=gateway.url) == a_result()
