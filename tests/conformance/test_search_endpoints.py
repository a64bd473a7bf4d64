"""Searches and surveys over HTTP as the two guides promise them (CONFORMANCE_DIR/qatlas.json and search-layer.json).

Each case runs against a real gateway with real workers behind it and a loopback web that is as strict as the services.
"""

import json
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from signal_search.cli import build_app
from typer.testing import CliRunner

from api_gateway.request_slots import slots_of
from budget.slots import Slots
from infra.loopback_web import open_web
from infra.loopback_web.faults import Fault
from infra.redis import connect
from infra.tokens import TokenStore
from tests.conformance.cases import Case, params
from tests.fakes.gateway import running
from tests.fakes.search_stack import HOSTS, Served, keys_set, serving

WORDS = "tidal array record"
PROGRAM = {"language": "qatlas-expr-v1", "score": "lexical"}
# What a case says of the deployment, not of the request.
_DIRECTIONS = frozenset(
    {
        *("authorization", "service_token_set", "body", "bytes", "inflight", "fifth", "success"),
        *("scorer_bytes", "body_bytes", "json_depth", "chunked"),
    }
)
REGISTERS = ["arxiv", "crossref"]


@pytest.fixture(scope="module")
def served(redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with keys_set(), serving(redis_url, tmp_path_factory.mktemp("search")) as found:
        yield found


@pytest.fixture(autouse=True)
def healed(served: Served) -> None:
    served.web.faults.clear()
    served.web.log.clear()
    redis = connect(served.settings.redis_url)
    redis.flushdb()  # hosts that failed in another case have rested
    redis.close()


# --- the scorer guide -------------------------------------------------------------------------------------------------


def check_search(given: Case, expect: Case, served: Served, folder: Path) -> None:
    if given.get("service_token_set"):
        reply = _with_tokens(given, served, folder)
    elif "inflight" in given:
        reply = _when_full(given["inflight"], served)
    else:
        reply = served.http.post("/v1/search", **_content(given))
    _check(reply, expect, served)


def _content(given: Case) -> dict[str, Any]:
    if "bytes" in given:
        raw = bytes(given["bytes"], "ascii").decode("unicode_escape").encode("latin-1")
        return {"content": raw, "headers": {"content-type": "application/json"}}
    if "body" in given:
        return {"content": str(given["body"]), "headers": {"content-type": "application/json"}}
    if "body_bytes" in given or "json_depth" in given:
        return _heavy(given)
    own = {name: value for name, value in given.items() if name not in _DIRECTIONS}
    if "scorer_bytes" in given:
        own["scorer"] = _scorer_of(given["scorer_bytes"])
    if given.get("success"):
        own = {
            "query": "Mount Corvel",
            "ranking": "scorer",
            "scorer": PROGRAM,
            "sources": REGISTERS,
        }
    if "query" not in own and "scorer" in own:
        own = {"query": "q", "ranking": "scorer", **own}
    return {"json": own}


def _heavy(given: Case) -> dict[str, Any]:
    """Return a body of so many bytes, or with containers so deep; in chunks where the case says so."""
    raw = b'{"query": "q"}'
    if "json_depth" in given:
        depth = given["json_depth"] - 1
        raw = b'{"query": "q", "x": ' + b"[" * depth + b"]" * depth + b"}"
    raw = raw.ljust(given.get("body_bytes", 0))
    content = iter([raw[:1000], raw[1000:]]) if given.get("chunked") else raw
    return {"content": content, "headers": {"content-type": "application/json"}}


def _scorer_of(size: int) -> Case:
    """Return a program whose compact JSON has so many bytes."""
    empty = {"language": "qatlas-expr-v1", "score": ""}
    bare = len(json.dumps(empty, separators=(",", ":")))
    return {**empty, "score": "1".rjust(size - bare)}


def _with_tokens(given: Case, served: Served, folder: Path) -> httpx.Response:
    TokenStore.load(folder / "tokens.json").create("t", ("write",), {}, now_ms=1)
    settings = served.settings.model_copy(update={"data_dir": str(folder)})
    with running(settings) as http:
        return http.post("/v1/search", **_content(given))


def _when_full(inflight: int, served: Served) -> httpx.Response:
    """Post one more while so many others hold their slots."""
    redis = connect(served.settings.redis_url)
    slots, held = Slots(redis), [f"other-{number}" for number in range(inflight)]
    try:
        assert all(slots.take(slots_of("search"), each, inflight, 60_000) for each in held)
        return served.http.post("/v1/search", json={"query": "q"})
    finally:
        for each in held:
            slots.free(slots_of("search"), each)
        redis.close()


def _at(body: Any, path: str) -> Any:
    for part in path.split("."):
        body = body[part]
    return body


def _check(reply: httpx.Response, expect: Case, served: Served) -> None:
    checks: dict[str, Callable[[Any], bool]] = {
        "http": lambda wanted: reply.status_code == wanted,
        "http_not": lambda wanted: reply.status_code != wanted,
        "code": lambda wanted: reply.json()["detail"]["code"] == wanted,
        "body_read": lambda wanted: wanted is False and reply.status_code in {401, 429},
        "queued": lambda wanted: wanted is False,
        "retry_after": lambda wanted: reply.headers["retry-after"] == wanted,
        "no_source_called": lambda wanted: (not served.web.log.entries()) is wanted,
        "keys": lambda wanted: set(wanted) <= set(reply.json()),
        "ranking": lambda wanted: _has(reply.json()["ranking"], wanted),
        "hit": lambda wanted: all(_has(each, wanted) for each in reply.json()["hits"]),
    }
    for name, wanted in expect.items():
        if "." in name:
            assert _at(reply.json(), name) == wanted, (name, reply.text[:500])
            continue
        assert name in checks, f"unknown expectation {name}"
        assert checks[name](wanted), (name, wanted, reply.status_code, reply.text[:500])


def _has(found: Case, wanted: Case) -> bool:
    also = set(wanted.get("keys_also", ()))
    return also <= set(found) and all(
        found[name] == value for name, value in wanted.items() if name != "keys_also"
    )


def check_survey(given: Case, expect: Case, served: Served, folder: Path) -> None:
    reply = served.http.post("/v1/survey-search", json=given)
    _check(reply, expect, served)


# --- the search guide -------------------------------------------------------------------------------------------------


def check_degrade(given: Case, expect: Case, served: Served, folder: Path) -> None:
    """One source fails, or all but Brave do where the guide's script crashes: the others answer."""
    source, _, how = given["failure"].partition(" ")
    status = int(how) if how.isdecimal() else 500
    failing = [source] if source in HOSTS else [each for each in HOSTS if each != "brave"]
    for each in failing:
        served.web.faults.add(Fault(host=HOSTS[each], status=status, count=None))
    reply = served.http.post("/v1/search", json={"query": WORDS, "mode": given["mode"]})
    assert (reply.status_code != 200) is expect["raises"]
    body = reply.json()
    used = {name for hit in body["hits"] for name in hit["sources"]}
    assert used == set(expect["sources_used"])
    assert set(body["errors"]) == set(failing)


# Letters stand for queries in the cases; the loopback web has something to say to these.
_MEANT = {"q": WORDS, "a": WORDS, "b": "harbour crane", "c": "lending rules"}


def check_output(given: Case, expect: Case, served: Served, folder: Path) -> None:
    words = [] if given["args"] == "(none)" else shlex.split(given["args"])
    words = [_MEANT.get(each, each) for each in words]
    found = CliRunner().invoke(
        build_app(), ["search", "--gateway", str(served.http.base_url), "--json", *words]
    )
    if "exit" in expect:
        assert found.exit_code == expect["exit"]
        assert expect["message"] in found.stderr
        return
    body = json.loads(found.stdout)
    if "keys" in expect:
        assert set(expect["keys"]) <= set(body)
    if "sorted_by" in expect:
        scores = [each["score"] for each in body["results"]]
        assert scores == sorted(scores, reverse=True)
    if "answer" in expect:
        first = open_web.find(_MEANT["a"])[0]
        assert body["answer"] == open_web.excerpts(first, _MEANT["a"])[0]


QATLAS: dict[str, Callable[[Case, Case, Served, Path], None]] = {
    "http_search": check_search,
    "http_survey": check_survey,
}
LAYER: dict[str, Callable[[Case, Case, Served, Path], None]] = {
    "degrade": check_degrade,
    "output": check_output,
}


def ours(name: str, checks: dict[str, Callable[[Case, Case, Served, Path], None]]) -> list[Any]:
    """Return the cases of these areas; the others have a file of their own."""
    found = params(name, functions=checks, later={})
    return [each for each in found if each.values[0].get("area", "") in {"", *checks}]


@pytest.mark.parametrize("case", ours("qatlas.json", QATLAS))
def test_qatlas_searches(case: Case, served: Served, tmp_path: Path) -> None:
    QATLAS[case["area"]](case["input"], case["expect"], served, tmp_path)


@pytest.mark.parametrize("case", ours("search-layer.json", LAYER))
def test_search_layer_searches(case: Case, served: Served, tmp_path: Path) -> None:
    LAYER[case["area"]](case["input"], case["expect"], served, tmp_path)


@pytest.mark.parametrize(
    ("given", "expect"),
    [
        ({"json_depth": 65}, {"http": 422, "code": "request_nesting_limit"}),
        ({"json_depth": 64}, {"http": 200}),
        ({"body_bytes": 65_536}, {"http": 200}),
        ({"body_bytes": 65_537}, {"http": 413, "code": "request_too_large"}),
        ({"body_bytes": 65_537, "chunked": True}, {"http": 413, "code": "request_too_large"}),
        ({"scorer_bytes": 4096}, {"http": 200}),
        ({"scorer_bytes": 4097}, {"http": 413, "code": "scorer_too_large", "no_source_called": True}),
        ({"query": "q\x00"}, {"http": 422}),
        ({"query": "q", "mode": "quick"}, {"http": 422, "detail.field": "mode"}),
        ({"query": "q", "ranking": "best"}, {"http": 422, "detail.field": "ranking"}),
        ({"query": "q", "ranking": "scorer", "scorer": PROGRAM, "mode": "multi"}, {"http": 400}),
        ({"query": "q", "max_results": 101}, {"http": 422, "detail.field": "max_results"}),
        ({"query": "q", "sources": ["x"] * 33}, {"http": 422, "detail.field": "sources"}),
    ],
)  # fmt: skip
def test_what_the_guide_says_beside_the_cases(
    given: Case, expect: Case, served: Served, tmp_path: Path
) -> None:
    check_search(given, expect, served, tmp_path)
