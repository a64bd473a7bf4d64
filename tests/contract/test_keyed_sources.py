"""An operator's key reaches its source and nothing else; what it brought reaches its job and no other."""

import io
import json
import logging
from collections.abc import Iterator
from urllib.parse import quote

import msgspec
import pytest
import structlog
from prometheus_client import generate_latest
from redis import Redis
from signal_search.contracts.query import Tier
from signal_search.contracts.source import FetchState, Request
from signal_search.contracts.trace import CallRefused, FetchFinished, FetchQueued

from infra import logging as our_logging
from infra.loopback_web import LoopbackWeb, hosts
from infra.settings import load
from tests.fakes.fetching import a_request, an_open_record, settings_for, with_fetcher
from tests.fakes.walk import Walk, configured, everything_in
from tests.fakes.walk import settings_for as walk_settings
from tests.fakes.web import Answer, Seen, Web, running_web, text
from workers.fetching.fetcher import Fetched, Fetcher, Finished

KEY = "tvly-Zq7/k+9Wm2XbT4vN"  # with signs that a query has to quote
TAVILY_KEY = "tvly-Zq7k9Wm2XbT4vN"
QUESTION = "How much did the Merrin Sound tidal array deliver in May?"


@pytest.fixture
def web() -> Iterator[Web]:
    with running_web() as server:
        server.route("/robots.txt", text(""))
        yield server


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """Everything that is logged, at the most talkative level."""
    root = logging.getLogger()
    wire = logging.getLogger("httpcore")
    before = root.handlers[:], root.level, wire.level
    stream = io.StringIO()
    our_logging.configure(load(log={"level": "DEBUG"}).log, stream)
    wire.setLevel(logging.DEBUG)  # more than any setting of ours allows
    yield stream
    root.handlers[:], level, wire_level = before
    root.setLevel(level)
    wire.setLevel(wire_level)
    structlog.reset_defaults()


@pytest.fixture
def loopback() -> Iterator[LoopbackWeb]:
    with LoopbackWeb() as server:
        yield server


def contains(haystack: list[bytes], needle: str) -> bool:
    forms = {needle.encode(), quote(needle, safe="").encode(), needle.encode().hex().encode()}
    return any(form in each for form in forms for each in haystack)


# --- a whole job ------------------------------------------------------------------------------------------------------


def test_a_key_is_nowhere_but_on_the_wire(
    redis: Redis,
    redis_url: str,
    loopback: LoopbackWeb,
    written: io.StringIO,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", TAVILY_KEY)
    walk = Walk(walk_settings(redis_url, hosts(loopback.port)))
    walk.ask(QUESTION, "tavily")
    [result] = walk.results("job_1")
    assert [each.status for each in loopback.log.entries("api.tavily.com")] == [200]
    assert "7.4 gigawatt hours" in msgspec.json.encode(result).decode()
    stored = list(everything_in(redis))
    assert contains(stored, "TAVILY_API_KEY")  # its name travels, so the search does find things
    assert contains(stored, "gigawatt hours")  # in compressed values, too
    assert "send_request_headers" in written.getvalue()
    told = [msgspec.json.encode(result), written.getvalue().encode(), generate_latest()]
    assert not contains(stored + told, TAVILY_KEY)
    assert not contains(stored + told, TAVILY_KEY.removeprefix("tvly-"))


def echo(seen: Seen) -> Answer:
    """Repeat all that was sent, as careless servers do, in a hit's words, its address and a header."""
    sent = json.dumps([seen.target, seen.headers])
    url = f"http://echo.test/page?for={quote(seen.target)}"
    body = {
        "type": "search",
        "web": {"results": [{"title": sent, "url": url, "description": sent}]},
    }
    return Answer(
        json.dumps(body).encode(), headers=(("Content-Type", "application/json"), ("X-You", sent))
    )


@pytest.mark.parametrize("place", ["bearer", "header:X-Key", "query:k"])
def test_a_key_that_a_server_repeats_is_taken_out(
    redis: Redis, redis_url: str, web: Web, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ECHO_KEY", KEY)
    web.route("/search", echo)
    row = {
        "id": "echo",
        "name": "Echo",
        "adapter": "brave",
        "endpoint": "http://echo.test/search",
        "kind": "api",
        "access": "key",
        "key_env": "ECHO_KEY",
        "key_place": place,
    }
    with configured(monkeypatch, custom=[row]):
        walk = Walk(walk_settings(redis_url, {"echo.test": web.authority}))
        walk.ask(QUESTION, "echo")
        [result] = walk.results("job_1")
    sent = [each for each in web.log if each.path == "/search"]
    assert [contains([json.dumps([each.target, each.headers]).encode()], KEY) for each in sent] == [
        True
    ]
    stored = [*everything_in(redis), msgspec.json.encode(result)]
    assert contains(stored, "REDACTED")
    assert not contains(stored, KEY)
    [page, *_] = [each.target for each in web.log if each.path == "/page"] or [""]
    assert KEY not in page


def test_replies_with_a_key_are_their_job_s_own(
    redis: Redis, redis_url: str, loopback: LoopbackWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", TAVILY_KEY)
    with configured(monkeypatch, endpoints={"searxng": "http://searx.test/search"}):
        walk = Walk(walk_settings(redis_url, hosts(loopback.port)))
        for number in (1, 2):
            # At L1, where they do not agree: at L0 a job may end before its other source is asked.
            walk.ask(QUESTION, "tavily", "searxng", job_id=f"job_{number}", tier=Tier.L1)
        walk.results("job_1", "job_2")
    assert len(loopback.log.entries("api.tavily.com")) == 2
    assert len(loopback.log.entries("searx.test")) == 1  # without a key one reply serves both
    queued = [
        each
        for job in ("job_1", "job_2")
        for each in walk.entries(job)
        if isinstance(each, FetchQueued) and each.request.auth
    ]
    assert {each.disposition for each in queued} == {"queued"}
    assert len({each.uid for each in queued}) == 2


def test_a_named_source_without_its_key_is_not_configured(
    redis: Redis, redis_url: str, loopback: LoopbackWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BRAVE_API_KEY", raising=False)
    walk = Walk(walk_settings(redis_url, hosts(loopback.port)))
    walk.ask(QUESTION, "brave", "searxng", "wikipedia")
    [result] = walk.results("job_1")
    refused = [each for each in walk.entries() if isinstance(each, CallRefused)]
    assert {(each.source_id, each.reason) for each in refused} == {
        ("brave", "not_configured"),
        ("searxng", "not_configured"),
    }
    assert {"brave: not_configured", "searxng: not_configured"} <= set(result.degradations)
    asked = {each.host for each in loopback.log.entries()}
    assert "en.wikipedia.org" in asked
    assert not asked & {"api.search.brave.com", "searx.test"}


def test_the_pages_that_a_model_names_are_evidence_not_its_words(
    redis: Redis, redis_url: str, loopback: LoopbackWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At L1, where no two of them agree: at L0 it were luck which page came first and was enough."""
    monkeypatch.setenv("GROK_API_KEY", "xai-Zq7k9Wm2XbT4vN")
    walk = Walk(walk_settings(redis_url, hosts(loopback.port)))
    walk.ask(QUESTION, "grok", tier=Tier.L1)
    [result] = walk.results("job_1")
    shown = msgspec.json.encode(result).decode()
    assert "7.4 gigawatt hours" in shown
    assert "A page that a model describes" not in shown
    ends = [each for each in walk.entries() if isinstance(each, FetchFinished)]
    assert {each.url for each in ends if each.documents} >= {
        "http://news.test/2026/05/28/tidal-array-record"
    }


# --- one exchange -----------------------------------------------------------------------------------------------------


def keyed(url: str, **more: object) -> Request:
    asked = a_request(url, "api", auth="TEST_KEY", auth_place="header:x-key")
    return msgspec.structs.replace(asked, **more)


def exchange(web: Web, request: Request) -> Fetched | Finished:
    settings = settings_for(web, ("a.test", "b.test"))

    async def play(fetcher: Fetcher) -> object:
        return await fetcher.fetch(request, an_open_record("http://a.test"))

    made = with_fetcher(settings, play)
    assert isinstance(made, Fetched | Finished)
    return made


def test_a_request_without_its_key_is_not_sent(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("", "  ", "two words", "line\nbreak", "schlüssel"):
        monkeypatch.setenv("TEST_KEY", value)
        made = exchange(web, keyed("http://a.test/x"))
        assert isinstance(made, Finished)
        assert (made.outcome.state, made.outcome.reason) == (FetchState.SKIPPED, "not_configured")
        assert made.pacing.verdict == "unsent"
    assert web.log == []


def test_a_key_does_not_go_over_plain_http(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)

    async def play(fetcher: Fetcher) -> object:
        return await fetcher.fetch(keyed("http://api.example.org/x"), None)

    made = with_fetcher(load(), play)
    assert isinstance(made, Finished)
    assert (made.outcome.reason, made.outcome.detail) == (
        "address",
        "a key is not sent over plain HTTP",
    )


def test_what_was_fetched_with_a_key_is_never_fresh(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    lasting = Answer(b"{}", headers=(("Cache-Control", "public, max-age=3600"),))
    web.route("/x", lasting)
    with_key = exchange(web, keyed("http://a.test/x"))
    without = exchange(web, a_request("http://a.test/x", "api"))
    assert isinstance(with_key, Fetched)
    assert isinstance(without, Fetched)
    assert (with_key.fresh_ms, without.fresh_ms) == (0, 3_600_000)


def test_a_redirect_that_repeats_the_key_leads_nowhere(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    moved = f"http://b.test/y?k={quote(KEY, safe='')}"
    web.route("/x", Answer(b"", 302, (("Location", moved),)))
    made = exchange(web, keyed("http://a.test/x", auth_place="query:k"))
    assert isinstance(made, Finished)
    assert (made.outcome.state, made.outcome.reason) == (FetchState.MISSED, "source_bad_reply")
    assert made.outcome.url == "http://a.test/x"
    assert len(web.log) == 1


def test_an_adapter_s_headers_cannot_say_who_we_are(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    asked = {"User-Agent": "Mozilla", "Authorization": "Bearer x", "Cookie": "a=b", "X-Api": "2"}
    web.route("/x", text("{}"))
    exchange(web, keyed("http://a.test/x", headers=asked))
    [seen] = web.log
    assert seen.headers["user-agent"].startswith("SignalSearchBot/")
    assert (seen.headers["x-api"], seen.headers["x-key"]) == ("2", KEY)
    assert not {"authorization", "cookie"} & seen.headers.keys()


def test_what_an_api_means_by_a_status_is_said(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    for status, reason in (
        (402, "source_denied"),
        (432, "source_denied"),
        (429, "source_rate_limited"),
    ):
        web.route("/x", Answer(b"{}", status))
        made = exchange(web, keyed("http://a.test/x", meanings={402: "no credits", 432: "no plan"}))
        assert isinstance(made, Finished)
        assert made.outcome.reason == reason
        assert made.outcome.detail.partition(": ")[2] == {402: "no credits", 432: "no plan"}.get(
            status, ""
        )
