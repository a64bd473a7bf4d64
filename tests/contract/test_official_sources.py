"""The official sources: what they are asked for a question, what they carry along, and replies that are out to hurt."""

import json
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from signal_search.contracts.source import Reply, Request, SourceQuery
from signal_search.errors import BadReply

from workers.adapter import Adapter, SourceConfig
from workers.countries import countries_in, name_of, without_countries
from workers.figures import statement, with_unit, written
from workers.registry import Registry

RECORDINGS = Path(__file__).with_name("recordings")
NAMES = ["clinicaltrials", "courtlistener", "dataeuropa", "edgar", "federalregister", "gdelt"]
NAMES += ["guardian", "openfda", "who", "worldbank"]
DAYS = "2020-01-31..2021-06-30"


def _adapter(name: str) -> Adapter:
    config = json.loads((RECORDINGS / name / "expected.json").read_text("utf-8"))["config"]
    return Registry.adapter(Registry.__new__(Registry), name)(msgspec.convert(config, SourceConfig))


def _asked(name: str, text: str, **more: object) -> Request:
    return _adapter(name).build(SourceQuery(text=text, **more))[0]  # type: ignore[arg-type]


def _fields(request: Request) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(request.url).query))


def _reply(body: bytes, url: str = "https://x.example/") -> Reply:
    text = body.decode("utf-8", "replace")
    return Reply(url=url, status=200, content_type="", body=body, text=text, fetched_at_ms=1)


def _keys(value: object) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {key for each in value.values() for key in _keys(each)}
    return {key for each in value for key in _keys(each)} if isinstance(value, list) else set()


# --- countries and figures -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("GDP of China and the US", ("CHN", "USA")),
        ("tell us about the eu and the uk", ()),
        ("EU and UK compared with south korea", ("EUU", "GBR", "KOR")),
        ("中国和日本的人口", ("CHN", "JPN")),
        ("chinaware from Indiana", ()),
        ("North Korea, Korea", ("PRK", "KOR")),
        ("India China Japan Germany France", ("IND", "CHN", "JPN", "DEU")),
    ],
)
def test_countries_are_whole_names_and_short_forms_are_capitals(
    text: str, codes: tuple[str, ...]
) -> None:
    assert countries_in(text) == codes


def test_countries_are_taken_out_and_named() -> None:
    assert without_countries("inflation in the United States, tell us").split() == [
        "inflation",
        "in",
        "the",
        ",",
        "tell",
        "us",
    ]
    assert (name_of("GBR"), name_of("XXX")) == ("United Kingdom", "XXX")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1_410_710_000, "1,410,710,000 (1.41 billion)"),
        (17_794_781_986_104.5, "17,794,781,986,104 (17.79 trillion)"),
        (-2_500_000, "-2,500,000 (-2.5 million)"),
        (12_614.061, "12,614.06"),
        (100.0, "100"),
        (0.0312345, "0.0312"),
        (0.0, "0"),
        (1.0, "1"),
    ],
)
def test_figures_are_written_for_people_and_for_comparison(value: float, text: str) -> None:
    assert written(value) == text


def test_a_statement_has_whose_unit_and_when() -> None:
    assert statement("GDP (constant 2015 US$ (PPP))", "Chile", "5", when="2020") == (
        "GDP of Chile, in constant 2015 US$ (PPP), was 5 in 2020."
    )
    assert statement("Deaths (per 1000)", "Peru", "2", group="males") == (
        "Deaths of Peru (males), per 1000, was 2."
    )
    assert with_unit("(" * 5000)[1] == ""


# --- what is asked -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("GDP per capita of China and India", ["country/CHN;IND/indicator/NY.GDP.PCAP.CD"]),
        (
            "How did inflation and unemployment develop in Germany?",
            ["country/DEU/indicator/FP.CPI.TOTL.ZG", "country/DEU/indicator/SL.UEM.TOTL.ZS"],
        ),
        ("中国 人均gdp", ["country/CHN/indicator/NY.GDP.PCAP.CD"]),
        ("population growth", ["country/WLD/indicator/SP.POP.GROW"]),
        ("populations of bees in Kenya", ["sources/2/search/populations bees"]),
        ("?", ["sources/2/search/development"]),
    ],
)
def test_worldbank_knows_common_indicators_and_searches_others(text: str, paths: list[str]) -> None:
    requests = _adapter("worldbank").build(SourceQuery(text=text))
    found = [unquote(urlsplit(each.url).path).removeprefix("/v2/") for each in requests]
    assert found == paths


def test_worldbank_asks_for_years_or_for_the_latest_values() -> None:
    assert _fields(_asked("worldbank", "poverty", freshness=DAYS))["date"] == "2020:2021"
    assert _fields(_asked("worldbank", "poverty"))["mrnev"] == "6"
    assert "date" not in _fields(_asked("worldbank", "poverty"))


def test_places_and_years_reach_the_follow_ups() -> None:
    search = _asked("worldbank", "solid fuel in Kenya and Nepal", freshness=DAYS)
    body = (RECORDINGS / "worldbank" / "search.json").read_bytes()
    parsed = _adapter("worldbank").parse(search, _reply(body))
    assert [unquote(urlsplit(each.url).path) for each in parsed.requests] == [
        "/v2/country/KEN;NPL/indicator/EN.ATM.CO2E.SF.KT",
        "/v2/country/KEN;NPL/indicator/EN.ATM.CO2E.SF.ZS",
    ]
    assert {_fields(each)["date"] for each in parsed.requests} == {"2020:2021"}


def test_who_asks_for_names_then_for_rows_and_remembers_the_name() -> None:
    adapter = _adapter("who")
    names = _asked("who", "tobacco use prevalence of males in France", freshness=DAYS)
    assert _fields(names) == {
        "$filter": "contains(tolower(IndicatorName),'tobacco') and contains(tolower(IndicatorName),'use')"
    }
    parsed = adapter.parse(names, _reply((RECORDINGS / "who" / "names.json").read_bytes()))
    rows = parsed.requests[0]
    assert _fields(rows)["$filter"] == (
        "(SpatialDim eq 'FRA') and TimeDim ge 2020 and TimeDim le 2021"
    )
    found = adapter.parse(rows, _reply((RECORDINGS / "who" / "rows.json").read_bytes()))
    assert found.documents[0].text.splitlines()[0] == (
        "Estimate of current tobacco use prevalence of France (both sexes), in %, was 34.1 "
        "(between 29.75 and 38.2) in 2022."
    )


def test_who_quotes_what_would_end_a_text() -> None:
    request = _asked("who", "x", terms=("alzheimer's",))
    assert _fields(request)["$filter"] == "contains(tolower(IndicatorName),'alzheimer''')"


def test_edgar_filters_by_form_and_days_and_says_who_asks() -> None:
    request = _asked("edgar", "lithium supply in 10-k and 10-Q filings", freshness=DAYS)
    assert _fields(request) == {
        "q": "lithium supply filings",
        "forms": "10-K,10-Q",
        "dateRange": "custom",
        "startdt": "2020-01-31",
        "enddt": "2021-06-30",
    }
    assert request.headers == {"from": "me@example.org"}


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("results of nct99912345 and NCT99912346", "filter.ids", "NCT99912345|NCT99912346"),
        ("sepsis fluids NCT999", "query.term", "sepsis fluids NCT999"),
    ],
)
def test_clinicaltrials_asks_for_numbers_by_number(text: str, field: str, value: str) -> None:
    assert _fields(_asked("clinicaltrials", text))[field] == value


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("What did 410 U.S. 113 decide?", '"410 U.S. 113"'),
        ("see 93 S. Ct. 705", '"93 S. Ct. 705"'),
        ("holding of 12 F.4th 345", '"12 F.4th 345"'),
        ("In 1990 Congress passed 3 laws", "1990 Congress passed 3 laws"),
    ],
)
def test_courtlistener_asks_for_citations_as_phrases(text: str, query: str) -> None:
    assert _fields(_asked("courtlistener", text))["q"] == query


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "clinicaltrials",
            {"filter.advanced": "AREA[StudyFirstPostDate]RANGE[2020-01-31,2021-06-30]"},
        ),
        ("courtlistener", {"filed_after": "2020-01-31", "filed_before": "2021-06-30"}),
        (
            "federalregister",
            {
                "conditions[publication_date][gte]": "2020-01-31",
                "conditions[publication_date][lte]": "2021-06-30",
            },
        ),
        ("gdelt", {"startdatetime": "20200131000000", "enddatetime": "20210630235959"}),
        ("guardian", {"from-date": "2020-01-31", "to-date": "2021-06-30"}),
    ],
)
def test_ranges_of_days_are_pushed_down(name: str, expected: dict[str, str]) -> None:
    asked = _fields(_asked(name, "tea", freshness=DAYS))
    assert expected.items() <= asked.items()
    assert not expected.keys() & _fields(_asked(name, "tea", freshness="pw")).keys()


def test_openfda_searches_names_and_takes_404_for_an_answer() -> None:
    request = _asked("openfda", "side effects of testol", freshness=DAYS)
    words = "(side effects testol)"
    assert _fields(request)["search"] == (
        f"(openfda.generic_name:{words} openfda.brand_name:{words} openfda.substance_name:{words}) "
        "AND effective_time:[20200131 TO 20210630]"
    )
    assert request.answers == (404,)


@pytest.mark.parametrize(
    ("language", "words", "query"),
    [
        ("en", ("UK", "tea", "price"), "tea price sourcelang:eng"),
        ("zh-CN", ("茶",), "茶 sourcelang:zho"),
        ("tlh", ("a" * 90, "b" * 90, "c" * 90), f"{'a' * 90} {'b' * 90} {'c' * 18}"),
        ("en", ("of",), "news sourcelang:eng"),
    ],
)
def test_gdelt_gets_words_it_accepts(language: str, words: tuple[str, ...], query: str) -> None:
    assert _fields(_asked("gdelt", "x", terms=words, language=language))["query"] == query


def test_guardian_names_its_key_and_never_holds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GUARDIAN_API_KEY", "hunter2")
    request = _asked("guardian", "tea time")
    assert (request.auth, request.auth_place) == ("GUARDIAN_API_KEY", "query:api-key")
    assert "hunter2" not in repr(request)


def test_dataeuropa_speaks_the_language_of_the_question() -> None:
    request = _asked("dataeuropa", "Bienen", language="de-AT")
    body = (RECORDINGS / "dataeuropa" / "datasets.json").read_bytes()
    first = _adapter("dataeuropa").parse(request, _reply(body)).documents[0]
    assert (first.title, first.language) == ("Bienen", "de")


# --- replies that are out to hurt ------------------------------------------------------------------------------------

KEYS = st.sampled_from(
    sorted(
        {
            key
            for name in NAMES
            for path in (RECORDINGS / name).glob("*.json")
            if path.stem not in {"truncated", "escapes"}
            for key in _keys(json.loads(path.read_text("utf-8-sig")))
        }
    )
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
SCALARS |= st.sampled_from(
    ["NCT99912345", "/opinion/1/x/", "0000999123-25-000077:a.htm", "2020-13"]
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_recording_with_any_part_replaced_is_read_or_is_a_bad_reply(
    name: str, data: st.DataObject
) -> None:
    good = json.loads((RECORDINGS / name / "expected.json").read_text("utf-8"))["cases"][0]
    whole = json.loads((RECORDINGS / name / good["reply"]).read_text("utf-8-sig"))
    spoiled = _spoiled(whole, data, depth=0)
    request = msgspec.structs.replace(_asked(name, "x"), url=good["request"])
    with suppress(BadReply):
        _adapter(name).parse(request, _reply(json.dumps(spoiled).encode()))


def _spoiled(value: object, data: st.DataObject, *, depth: int) -> object:
    """Go down a random branch and put something else at its end."""
    if (
        not isinstance(value, dict | list)
        or not value
        or (depth and data.draw(st.integers(0, 4)) == 0)
    ):
        return data.draw(JSON)
    at = data.draw(st.sampled_from(sorted(value) if isinstance(value, dict) else range(len(value))))
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[at] = _spoiled(value[at], data, depth=depth + 1)
    return copy
