"""Adaptive searches over HTTP and over Redis without a gateway, from the command line; pages, refusals, cancelling."""

from collections.abc import Iterator
from typing import Any

import httpx
import msgspec
import pytest
from signal_search.cli import build_app
from signal_search.client import Client
from signal_search.contracts.adaptive_result import AdaptiveResult
from signal_search.errors import Gone, Invalid, SignalSearchError
from typer.testing import CliRunner

from infra import keys
from infra.loopback_web.faults import Fault
from infra.redis import connect
from tests.fakes.search_stack import Served, serving
from tests.fakes.servers import wait_until

ASKED: dict[str, Any] = {"questions": ["tidal power"], "keywords": ["tidal power"]}
PATH = "/v1/adaptive-search"
ADAPTIVE = {"judge": "rule", "sources": ["wikipedia"], "deadline_s": 50.0}


@pytest.fixture(scope="module")
def served(redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(redis_url, tmp_path_factory.mktemp("adaptive"), adaptive=ADAPTIVE) as found:
        yield found


@pytest.fixture(autouse=True)
def clean(served: Served) -> Iterator[None]:
    redis = connect(served.settings.redis_url)
    sources = redis.get(keys.sources())
    redis.flushdb()
    redis.set(keys.sources(), sources or b"")
    served.web.log.clear()
    served.web.faults.clear()
    yield
    redis.close()


@pytest.fixture(params=["http", "redis"])
def client(
    request: pytest.FixtureRequest, served: Served, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Client]:
    monkeypatch.setenv("SIGNAL_SEARCH_DATA_DIR", served.settings.data_dir)
    figures = msgspec.json.encode(ADAPTIVE).decode()
    monkeypatch.setenv("SIGNAL_SEARCH_ADAPTIVE", figures)
    if request.param == "http":
        over: dict[str, Any] = {"gateway_url": str(served.http.base_url)}
    else:
        over = {"redis_url": served.settings.redis_url}
    with Client(**over) as found:
        yield found


def posted(served: Served, **body: Any) -> httpx.Response:
    return served.http.post(PATH, json=body, timeout=60)


# --- pages ------------------------------------------------------------------------------------------------------------


def test_pages_over_both_faces(client: Client, served: Served) -> None:
    first = client.adaptive_search(**ASKED, page_size=1)
    assert first.total_results > 1
    assert isinstance(first.job_id, str)
    served.web.log.clear()
    seen, page = list(first.results), first
    while page.next_cursor:
        page = client.adaptive_page(page.next_cursor, 1)
        seen += page.results
        assert page.keyword_progress == first.keyword_progress
        assert page.expires_at == first.expires_at
    assert len(seen) == len({each.url for each in seen}) == first.total_results
    assert not served.web.log.entries()


def test_the_result_of_the_job_is_the_first_page(client: Client) -> None:
    page = client.adaptive_search(**ASKED)
    assert isinstance(page.job_id, str)
    assert client.result(page.job_id) == page


def test_a_cursor_of_nothing_is_gone_and_no_cursor_is_refused(client: Client) -> None:
    with pytest.raises(Gone) as gone:
        client.adaptive_page("00000000-0000-0000-0000-000000000000.0")
    assert gone.value.code == "result_expired"
    for wrong in ("x", "00000000-0000-0000-0000-000000000000.", "0" * 101):
        with pytest.raises(Invalid) as refused:
            client.adaptive_page(wrong)
        assert (refused.value.code, refused.value.field) == ("invalid_input", "cursor")


def test_a_place_behind_the_end_is_refused_and_the_end_is_an_empty_page(client: Client) -> None:
    page = client.adaptive_search(**ASKED, page_size=1)
    assert page.next_cursor is not None
    name = page.next_cursor.split(".")[0]
    assert client.adaptive_page(f"{name}.{page.total_results}").results == ()
    with pytest.raises(Invalid):
        client.adaptive_page(f"{name}.{page.total_results + 1}")


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "questions"),
        ({"questions": ["a"], "tasks": []}, "questions"),
        ({"questions": []}, "questions"),
        ({"questions": ["  "]}, "questions[0]"),
        ({"questions": ["a", "b"], "keywords": ["k"]}, "keywords"),
        ({"questions": ["a"], "keywords": ["k", ["m"]]}, "keywords"),
        ({"questions": ["a"], "intent": ""}, "intent"),
        ({"questions": ["a"], "page_size": 0}, "page_size"),
        ({"questions": ["a"], "page_size": 51}, "page_size"),
        ({"questions": ["a"], "retrievalMode": 1}, None),
        ({"cursor": "x.1", "keywords": []}, "keywords"),
        ({"cursor": "x.1", "intent": "more"}, "intent"),
        (
            {
                "tasks": [
                    {"context": "c", "targets": [{"id": "a b", "keywords": ["k"], "question": "q"}]}
                ]
            },
            "tasks[0].targets[0].id",
        ),
    ],
)
def test_a_request_that_means_nothing_makes_no_job(
    served: Served, body: dict[str, Any], field: str | None
) -> None:
    reply = posted(served, **body)
    detail = reply.json()["detail"]
    assert (reply.status_code, detail["code"], detail.get("field")) == (422, "invalid_input", field)
    assert served.http.get("/v1/jobs").json()["jobs"] == []
    assert not served.web.log.entries()


def test_the_interface_describes_the_address(served: Served) -> None:
    paths = served.http.get("/openapi.json").json()["paths"]
    assert set(paths[PATH]["post"]["responses"]) >= {"200", "202", "410", "422", "429"}


# --- a job underneath -------------------------------------------------------------------------------------------------


def test_a_cancelled_search_leaves_what_it_had_approved(served: Served) -> None:
    host = "en.wikipedia.org"
    served.web.faults.add(Fault(host=host, latency_s=10.0, count=None))
    reply = served.http.post(PATH, json=ASKED, headers={"prefer": "respond-async"})
    assert reply.status_code == 202
    address = reply.headers["location"]
    # Its own log has a request only when that is answered, and then the search may be over.
    wait_until(
        lambda: served.http.get(address).json()["progress"]["waiting_on"] == [host],
        "the source is asked",
    )
    assert served.http.delete(address).status_code == 202
    wait_until(
        lambda: served.http.get(f"{address}/result").status_code == 200, "the rest can be read"
    )
    page = msgspec.json.decode(served.http.get(f"{address}/result").content, type=AdaptiveResult)
    assert (page.stop_reason, page.retrieval_sufficient) == ("cancelled", False)
    assert served.http.get(address).json()["state"] == "cancelled"


def test_the_same_key_is_the_same_search(served: Served) -> None:
    headers = {"idempotency-key": "one"}
    first = served.http.post(PATH, json=ASKED, headers=headers, timeout=60)
    again = served.http.post(PATH, json=ASKED, headers=headers, timeout=60)
    assert first.content == again.content
    assert again.headers["idempotency-replayed"] == "true"
    other = served.http.post(PATH, json={"questions": ["other"]}, headers=headers)
    assert (other.status_code, other.json()["detail"]["code"]) == (409, "idempotency_conflict")


# --- the command line -------------------------------------------------------------------------------------------------


def run(served: Served, *words: str) -> Any:
    return CliRunner().invoke(
        build_app(rooms=()), ["adaptive", *words, "--gateway", str(served.http.base_url)]
    )


def test_the_command_prints_what_is_worth_reading(served: Served) -> None:
    done = run(served, "tidal power", "--keyword", "tidal power", "--page-size", "1")
    assert done.exit_code == 0, done.output
    assert "keyword search satisfied; completeness not assessed" in done.stdout
    assert "more: --cursor " in done.stdout
    cursor = done.stdout.split("more: --cursor ")[1].split()[0]
    following = run(served, "--cursor", cursor, "--json")
    assert following.exit_code == 0
    page = msgspec.json.decode(following.stdout, type=AdaptiveResult)
    assert page.results


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--cursor", "x.1", "--keyword", "k"),
        ("--input", "no-such-file"),
        ("a", "--page-size", "0"),
    ],
)
def test_the_command_refuses_what_means_nothing(served: Served, words: tuple[str, ...]) -> None:
    assert run(served, *words).exit_code == 2


def test_errors_are_the_trees(client: Client) -> None:
    with pytest.raises(SignalSearchError) as refused:
        client.adaptive_search(questions=["x" * 401])
    assert (refused.value.code, refused.value.field) == ("invalid_input", "questions[0]")
