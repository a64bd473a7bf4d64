"""Every row of a generic adapter: its question goes where its operator wants it, and its recorded answer is read."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest
from signal_search.contracts.source import Reply, SourceQuery
from signal_search.errors import BadReply

from infra.catalog.catalog import SourceRow, shipped_rows
from infra.settings import load
from workers.registry import Registry, Source

ROWS = Path(__file__).with_name("rows")
EXPECTED: dict[str, Any] = json.loads((ROWS / "expected.json").read_text("utf-8"))
# Their replies are pages, which the extractor reads: tests/unit/sources/test_site_search.py.
PAGES = {"ecdc", "openstd"}
GENERIC = [
    row
    for row in shipped_rows()
    if row.adapter in {"json_api", "opensearch", "site_search"} and row.access != "closed"
]
ASK = SourceQuery(
    text="How clean is the water?",
    terms=("water quality", "lakes", "rivers", "standard", "sample", "year", "Europe"),
    freshness="2024-01-01..2024-12-31",
    limit=3,
)


def _source(row: SourceRow, monkeypatch: pytest.MonkeyPatch) -> Source:
    if row.key_env:
        monkeypatch.setenv(row.key_env, "a-key")
    return Registry(load()).source(row.id)


def _reply(url: str, name: str) -> Reply:
    body = (ROWS / name).read_bytes()
    return Reply(
        url=url,
        status=200,
        content_type="",
        body=body,
        text=body.decode(),
        fetched_at_ms=1_790_000_000_000,
    )


RECORDED = [row for row in GENERIC if row.id not in PAGES]


def test_every_generic_row_has_a_recording() -> None:
    assert {row.id for row in RECORDED} <= set(EXPECTED)
    assert {path.name for path in ROWS.iterdir()} - {"expected.json"} == {
        each["reply"] for each in EXPECTED.values()
    }


@pytest.mark.parametrize("row", GENERIC, ids=lambda row: row.id)
def test_the_question_goes_where_the_row_says(
    row: SourceRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = _source(row, monkeypatch)
    (request,) = source.adapter.build(ASK)
    assert request.url.startswith(row.endpoint.split("{")[0])
    assert not set("{}$' ") & set(request.url.replace("$filter", ""))
    assert "water" in request.url + request.body
    assert "a-key" not in request.url + request.body
    assert (request.auth, request.kind == "page") == (row.key_env, row.adapter == "site_search")
    assert ("2024-01-01" in request.url + request.body) is ("freshness" in row.constraints)
    assert (request.method == "POST") is bool(request.body)
    undated = source.adapter.build(msgspec.structs.replace(ASK, freshness=None))[0]
    assert "=&" not in undated.url
    assert not undated.url.endswith("=")


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: row.id)
def test_the_recorded_answer_is_read(row: SourceRow, monkeypatch: pytest.MonkeyPatch) -> None:
    source, expected = _source(row, monkeypatch), EXPECTED[row.id]
    (request,) = source.adapter.build(ASK)
    parsed = source.adapter.parse(request, _reply(request.url, expected["reply"]))
    found = json.loads(msgspec.json.encode(parsed.documents))
    shown = [
        {key: each[key] for key in wanted}
        for each, wanted in zip(found, expected["documents"], strict=True)
    ]
    assert shown == expected["documents"]
    assert [(each.url, each.kind, each.auth) for each in parsed.requests] == [
        (url, "page", "") for url in expected["requests"]
    ]
    assert (parsed.total, parsed.note) == (expected["total"], "")
    assert {each["source_type"] for each in found} == {row.source_type}
    assert {each["source_id"] for each in found} == {row.id}


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: row.id)
def test_a_cut_answer_is_a_bad_reply(row: SourceRow, monkeypatch: pytest.MonkeyPatch) -> None:
    source = _source(row, monkeypatch)
    (request,) = source.adapter.build(ASK)
    whole = _reply(request.url, EXPECTED[row.id]["reply"])
    half = msgspec.structs.replace(
        whole, body=whole.body[: len(whole.body) // 2], text=whole.text[: len(whole.text) // 2]
    )
    with pytest.raises(BadReply, match="truncated"):
        source.adapter.parse(request, half)


def test_words_are_sent_as_few_as_the_row_wants() -> None:
    source = Registry(load()).source("dbnomics")
    (request,) = source.adapter.build(ASK)
    assert parse_qs(urlsplit(request.url).query)["q"] == ["water quality lakes rivers"]


def test_a_question_may_be_sent_as_an_object(monkeypatch: pytest.MonkeyPatch) -> None:
    row = next(each for each in GENERIC if each.id == "perplexity")
    (request,) = _source(row, monkeypatch).adapter.build(ASK)
    assert (request.method, request.url) == ("POST", "https://api.perplexity.ai/search")
    assert json.loads(request.body) == {"query": " ".join(ASK.terms), "max_results": 3}
