"""How adapters ask: the row's key and parameters go along whoever asks, and what is asked for is what places accept."""

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest
from msgspec import Struct
from signal_search.contracts.source import Reply, Request, SourceQuery

from infra.catalog.catalog import shipped_rows
from workers.adapter import SourceConfig
from workers.asking import address, call, page, post
from workers.records import readable, seconds_of
from workers.registry import _ADAPTERS
from workers.template import fill_body

ROWS = {row.adapter: row for row in reversed(shipped_rows()) if row.access != "closed"}
OLD = "1950-01-01..1960-12-31"


def config_of(adapter: str, **more: Any) -> SourceConfig:
    row = ROWS[adapter]
    endpoint = row.endpoint or "https://own.example/search"
    return SourceConfig(**{"id": row.id, "endpoint": endpoint, "params": row.params, **more})


def asked(adapter: str, text: str, **more: Any) -> Request:
    ask = SourceQuery(text=text, terms=tuple(text.split()), **more)
    return _ADAPTERS[adapter](config_of(adapter)).build(ask)[0]


def field(request: Request, name: str) -> str:
    return parse_qs(urlsplit(request.url).query)[name][0]


@pytest.mark.parametrize("adapter", sorted(_ADAPTERS.keys() - {"site"}))
def test_the_key_of_a_row_goes_along_whoever_asks(adapter: str) -> None:
    config = config_of(adapter, auth="A_KEY", auth_place="header:X-Key")
    ask = SourceQuery(text="CVE-2021-44228 in water", terms=("water",))
    requests = _ADAPTERS[adapter](config).build(ask)
    assert requests
    assert {(each.auth, each.auth_place) for each in requests} == {("A_KEY", "header:X-Key")}


def test_a_page_never_gets_the_key() -> None:
    config = SourceConfig(id="x", endpoint="https://x.example/", auth="A_KEY")
    assert page(config, "x", "https://y.example/").auth == ""
    assert call(config, "x", config.endpoint).auth == "A_KEY"


def test_a_parameter_of_the_row_counts_for_more_and_keeps_its_place() -> None:
    config = SourceConfig(id="x", endpoint="https://x.example/", params={"b": "9", "z": "1"})
    url = address(config, config.endpoint, {"a": "1 2", "b": "2", "c": "3"})
    assert url == "https://x.example/?a=1+2&b=9&c=3&z=1"
    assert address(config, "https://x.example/?o=1", {}) == "https://x.example/?o=1&b=9&z=1"
    bare = SourceConfig(id="x", endpoint="https://x.example/")
    assert address(bare, bare.endpoint, {}) == "https://x.example/"
    assert address(bare, bare.endpoint, {"q": "a b:c"}, safe=":", blank="%20").endswith("q=a%20b:c")


def test_an_object_is_sent_as_json_and_says_so() -> None:
    config = SourceConfig(id="x", endpoint="https://x.example/", auth="A_KEY")
    request = post(config, "x", {"a": 1})
    assert (request.method, request.body, request.kind) == ("POST", '{"a":1}', "api")
    assert request.headers == {"content-type": "application/json"}
    assert request.auth == "A_KEY"
    own = config_of("json_api", params={"post": "query={q} max_results={limit}"})
    assert _ADAPTERS["json_api"](own).build(SourceQuery(text="tea"))[0].headers == request.headers


def test_a_question_of_digits_is_still_text() -> None:
    body = fill_body("query={q} max_results={limit} pages=2", SourceQuery(text="737", limit=3))
    assert json.loads(body) == {"query": "737", "max_results": 3, "pages": 2}


def test_times_before_the_epoch_are_its_beginning() -> None:
    assert seconds_of("1950-01-01") == 0
    assert seconds_of("2020-01-01") == 1_577_836_800
    assert field(asked("stackexchange", "tea", freshness=OLD), "fromdate") == "0"
    filters = field(asked("hackernews", "tea", freshness=OLD), "numericFilters")
    assert filters == "created_at_i>=0,created_at_i<86400"


def test_gdelt_is_not_asked_for_what_it_refuses() -> None:
    request = asked("gdelt", "tidal array", freshness="2010-01-01..2024-12-31")
    assert field(request, "startdatetime") == "20170101000000"
    assert field(request, "enddatetime") == "20241231235959"


def test_a_date_of_a_study_is_asked_for_with_its_kind() -> None:
    wanted = field(asked("clinicaltrials", "green tea"), "fields").split(",")
    for name in ("StartDate", "PrimaryCompletionDate", "CompletionDate"):
        assert {name, f"{name}Type"} <= set(wanted)


class Volume(Struct):
    volume: str | None = None
    year: int | None = None
    open: bool | None = None


def test_a_number_where_text_is_usual_does_not_cost_the_record() -> None:
    items = [{"volume": 12, "year": "1998", "open": True}, {"volume": "12", "year": 1998}]
    assert readable(items, Volume) == [
        Volume(volume="12", year=1998, open=True),
        Volume(volume="12", year=1998),
    ]
    assert readable([{"volume": ["12"]}], Volume) == []


def _read(adapter: str, body: object) -> Any:
    raw = msgspec.json.encode(body)
    reply = Reply(
        url="",
        status=200,
        content_type="application/json",
        body=raw,
        text=raw.decode(),
        fetched_at_ms=1,
    )
    request = Request(url="https://x.example/", adapter=adapter, source_id="x")
    return _ADAPTERS[adapter](config_of(adapter)).parse(request, reply)


@pytest.mark.parametrize(
    ("year", "month", "published"),
    [("2021", "11", "2021-11"), ("2021", "Nov", "2021"), (2021, 3, "2021-03"), (None, None, "")],
)
def test_doaj_months_may_be_anything(year: object, month: object, published: str) -> None:
    bibjson = {"title": "Tea", "year": year, "month": month}
    [found] = _read("doaj", {"results": [{"id": "a", "bibjson": bibjson}]}).documents
    assert found.published == published


def test_the_second_cvss_has_its_severity_beside_its_data() -> None:
    metric = {
        "type": "Primary",
        "baseSeverity": "HIGH",
        "cvssData": {"version": "2.0", "baseScore": 7.5},
    }
    cve = {"id": "CVE-2009-0001", "metrics": {"cvssMetricV2": [metric]}}
    [found] = _read("nvd", {"vulnerabilities": [{"cve": cve}]}).documents
    assert "The CVSS 2.0 base score of CVE-2009-0001 is 7.5 (HIGH)." in found.text


def test_markdown_of_a_study_is_read() -> None:
    study = {
        "protocolSection": {
            "identificationModule": {"nctId": "NCT99900999", "briefTitle": "Tea"},
            "descriptionModule": {"briefSummary": r"Adults \>= 18 years, HbA1c \< 7 \*."},
        }
    }
    [found] = _read("clinicaltrials", {"studies": [study]}).documents
    assert "Adults >= 18 years, HbA1c < 7 *." in found.text
