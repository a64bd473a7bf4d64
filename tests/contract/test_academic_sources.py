"""The academic registers: what is asked for, what their records mean, and that nothing they send does harm."""

import json
import re
from itertools import chain, combinations
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from signal_search.contracts.document import Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery
from signal_search.errors import BadReply

from infra.catalog.catalog import shipped_rows
from workers.adapter import Adapter, SourceConfig
from workers.records import days_of, iso, iso_of, language, lines, person, words_of
from workers.sources.datacite import DataCite
from workers.sources.dblp import Dblp
from workers.sources.doaj import Doaj
from workers.sources.europepmc import EuropePmc
from workers.sources.openalex import OpenAlex
from workers.sources.pubmed import PubMed
from workers.sources.semanticscholar import SemanticScholar

KINDS: dict[str, type[Adapter]] = {
    kind.name: kind for kind in (OpenAlex, SemanticScholar, PubMed, EuropePmc, DataCite, Dblp, Doaj)
}
ROWS = {row.id: row for row in shipped_rows()}
DAYS = "2020-01-31..2021-06-30"


def _adapter(name: str, *, mailto: str = "") -> Adapter:
    row = ROWS[name]
    config = SourceConfig(
        id=name,
        endpoint=row.endpoint,
        mailto=mailto,
        source_type="academic",
        auth=row.key_env,
        auth_place=row.key_place,
    )
    return KINDS[name](config)


def _asked(name: str, ask: SourceQuery, *, mailto: str = "") -> Request:
    (request,) = _adapter(name, mailto=mailto).build(ask)
    return request


def _query(request: Request) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs(urlsplit(request.url).query).items()}


def _parsed(name: str, body: bytes, request: Request | None = None) -> Parsed:
    adapter = _adapter(name)
    request = request or adapter.build(SourceQuery(text="x"))[0]
    text = body.decode("utf-8", "replace")
    return adapter.parse(
        request,
        Reply(
            url=request.url,
            status=200,
            content_type="application/json",
            body=body,
            text=text,
            fetched_at_ms=1_790_000_000_000,
        ),
    )


# --- what is asked for ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "parameter", "expected"),
    [
        ("openalex", "search", "sodium-ion cells"),
        ("semanticscholar", "query", "sodium ion cells"),
        ("pubmed", "term", "sodium-ion cells"),
        ("europepmc", "query", "sodium-ion AND cells"),
        ("datacite", "query", "sodium-ion AND cells"),
        ("dblp", "q", "sodium ion cells"),
    ],
)
def test_words_are_sent_without_operators_and_stop_words(
    name: str, parameter: str, expected: str
) -> None:
    ask = SourceQuery(text="What are the (sodium-ion) cells: NOT?", limit=7)
    assert _query(_asked(name, ask))[parameter] == expected
    from_terms = SourceQuery(text="ignored", terms=("sodium-ion", "cells"))
    assert _query(_asked(name, from_terms))[parameter] == expected


def test_doaj_puts_the_query_into_the_path_with_blanks_not_plus_signs() -> None:
    request = _asked("doaj", SourceQuery(text="wild bees", limit=7))
    path = urlsplit(request.url).path
    assert path == "/api/search/articles/wild%20AND%20bees"
    assert _query(request) == {"page": "1", "pageSize": "7"}


@pytest.mark.parametrize(
    ("name", "parameter", "expected"),
    [
        ("openalex", "filter", "from_publication_date:2020-01-31,to_publication_date:2021-06-30"),
        ("semanticscholar", "publicationDateOrYear", "2020-01-31:2021-06-30"),
        ("pubmed", "mindate", "2020/01/31"),
        ("pubmed", "maxdate", "2021/06/30"),
        ("pubmed", "datetype", "pdat"),
        ("europepmc", "query", "(tea) AND (FIRST_PDATE:[2020-01-31 TO 2021-06-30])"),
        ("datacite", "query", "(tea) AND publicationYear:[2020 TO 2021]"),
    ],
)
def test_a_range_of_days_is_pushed_down(name: str, parameter: str, expected: str) -> None:
    dated = _asked(name, SourceQuery(text="tea", freshness=DAYS))
    assert _query(dated)[parameter] == expected
    for other in (None, "pw", "2021-06-30..2020-01-31", "2020-02-31..2021-06-30"):
        undated = _query(_asked(name, SourceQuery(text="tea", freshness=other)))
        assert expected not in undated.values()


def test_doaj_pushes_years_down() -> None:
    request = _asked("doaj", SourceQuery(text="tea", freshness=DAYS))
    query = unquote(urlsplit(request.url).path.rpartition("/")[2])
    assert query == "(tea) AND bibjson.year:[2020 TO 2021]"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("openalex", "/works/doi:10.5555%2Fabc.1"),
        ("semanticscholar", "/graph/v1/paper/DOI:10.5555%2Fabc.1"),
        ("datacite", "/dois/10.5555%2Fabc.1"),
    ],
)
def test_a_doi_is_asked_for_by_its_address(name: str, path: str) -> None:
    assert urlsplit(_asked(name, SourceQuery(text="see 10.5555/ABC.1?")).url).path == path
    two = _adapter(name).build(SourceQuery(text="10.5555/a and 10.5555/b, 10.5555/A"))
    assert len(two) == 2


@pytest.mark.parametrize(
    ("name", "parameter", "expected"),
    [
        ("pubmed", "term", "10.5555/abc.1[doi] OR 10.5555/b[doi]"),
        ("europepmc", "query", 'DOI:"10.5555/abc.1" OR DOI:"10.5555/b"'),
    ],
)
def test_a_doi_is_searched_for_in_its_field(name: str, parameter: str, expected: str) -> None:
    request = _asked(name, SourceQuery(text="10.5555/ABC.1, 10.5555/b", freshness=DAYS))
    assert _query(request)[parameter] == expected
    assert "mindate" not in _query(request)


@pytest.mark.parametrize(
    ("name", "text", "path", "query"),
    [
        ("openalex", "what says W9900000001?", "/works/W9900000001", {}),
        ("semanticscholar", "arXiv:1706.99762v5", "/graph/v1/paper/ARXIV:1706.99762", {}),
        ("pubmed", "PMID: 99000001", "/entrez/eutils/efetch.fcgi", {"id": "99000001"}),
    ],
)
def test_the_registers_own_ids_are_asked_for(
    name: str, text: str, path: str, query: dict[str, str]
) -> None:
    request = _asked(name, SourceQuery(text=text))
    assert urlsplit(request.url).path == path
    assert _query(request).items() >= query.items()


@pytest.mark.parametrize(
    ("name", "parameter", "most"),
    [
        ("openalex", "per_page", "100"),
        ("semanticscholar", "limit", "100"),
        ("pubmed", "retmax", "100"),
        ("europepmc", "pageSize", "100"),
        ("datacite", "page[size]", "100"),
        ("dblp", "h", "100"),
        ("doaj", "pageSize", "100"),
    ],
)
def test_sizes_stay_within_what_the_api_allows(name: str, parameter: str, most: str) -> None:
    sizes = [_query(_asked(name, SourceQuery(text="x", limit=n)))[parameter] for n in (-5, 7, 9999)]
    assert sizes == ["1", "7", most]


def test_the_key_is_named_never_sent_by_the_adapter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENALEX_API_KEY", "hunter2")
    request = _asked("openalex", SourceQuery(text="tea"))
    assert (request.auth, request.auth_place) == ("OPENALEX_API_KEY", "query:api_key")
    assert "hunter2" not in repr(request)
    assert "api_key" not in request.url


@pytest.mark.parametrize(
    ("name", "place"), [("semanticscholar", "header:x-api-key"), ("pubmed", "query:api_key")]
)
def test_a_key_of_ones_own_is_optional(name: str, place: str) -> None:
    assert _asked(name, SourceQuery(text="tea")).auth == ""
    mine = SourceConfig(id="mine", endpoint=ROWS[name].endpoint, auth="MY_KEY", auth_place=place)
    (request,) = KINDS[name](mine).build(SourceQuery(text="tea"))
    assert (request.auth, request.auth_place) == ("MY_KEY", place)


def test_pubmed_says_who_asks() -> None:
    query = _query(_asked("pubmed", SourceQuery(text="tea"), mailto="me@example.org"))
    assert (query["tool"], query["email"]) == ("signal-search", "me@example.org")
    assert "email" not in _query(_asked("pubmed", SourceQuery(text="tea")))


# --- the parts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-04-03", "2024-04-03"),
        ("2024-4-3T09:00:00Z", "2024-04-03"),
        ("2024/04", "2024-04"),
        ("2024", "2024"),
        ("1998 Dec-1999 Jan", "1998"),
        ("2023-02-30", "2023-02"),
        ("2023-13-01", "2023"),
        ("2004-03-02/2005-06-02", "2004-03-02"),
        ("0000", ""),
        ("Spring 2020", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_dates_have_one_to_three_parts(text: str | None, expected: str) -> None:
    assert iso(text) == expected


def test_dates_of_numbers_are_cut_back_to_the_calendar() -> None:
    assert [iso_of(each) for each in ((2021, 13), (2021, 6, 31), (None,), (10**30, 1), ())] == [
        "2021",
        "2021-06",
        "",
        "",
        "",
    ]


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("We show that a < b and c > d.", "We show that a < b and c > d."),
        ("<jats:p>One.</jats:p><jats:p>p &lt; 0.05</jats:p>", "One.\np < 0.05"),
        ("<h4>Background</h4>Tea.<h4>Results</h4>Sleep.", "Background\nTea.\nResults\nSleep."),
        ("<title>Abstract</title><p>H<sub>2</sub>O</p>", "H2O"),
        ('<p class="x">Text</p>', "Text"),
        (None, ""),
    ],
)
def test_markup_goes_and_comparisons_stay(markup: str | None, expected: str) -> None:
    assert lines(markup) == expected


@pytest.mark.parametrize(
    ("name", "family", "given", "literal"),
    [
        ("Ashish Vaswani", "Vaswani", "Ashish", ""),
        ("Jonas Ferreira de Brum", "de Brum", "Jonas Ferreira", ""),
        ("Okonjo-Vale, Nadir", "Okonjo-Vale", "Nadir", ""),
        ("The Merrin Grid Consortium", "", "", "The Merrin Grid Consortium"),
        ("闻巧玉", "", "", "闻巧玉"),
    ],
)
def test_names_are_split(name: str, family: str, given: str, literal: str) -> None:
    author = person(name)
    assert (author.family, author.given, author.literal) == (family, given, literal)


def test_languages_of_two_and_three_letters() -> None:
    assert [language(each) for each in ("en-GB", "chi", "EN", "zxx", "english", None)] == [
        "en",
        "zh",
        "en",
        "",
        "",
        "",
    ]


def test_a_question_of_stop_words_is_asked_as_it_is() -> None:
    assert words_of(SourceQuery(text="To be or not to be"), most=4) == ["To", "be", "or", "not"]
    assert words_of(SourceQuery(text="?! ()"), most=4) == []
    assert days_of("2020-01-01..2020-01-01") == ("2020-01-01", "2020-01-01")


# --- partial records, as services send under load ------------------------------------------------------------------

SAMPLES: dict[str, tuple[dict[str, Any], tuple[str, ...], str]] = {
    "openalex": (
        {
            "id": "https://openalex.org/W1",
            "display_name": "t",
            "doi": "https://doi.org/10.5555/x",
            "publication_date": "2020-05-01",
            "primary_location": {"source": {"display_name": "J", "type": "journal"}},
            "authorships": [{"author": {"display_name": "A B"}}],
            "abstract_inverted_index": {"w": [0]},
        },
        ("id", "display_name"),
        '{{"results":[{0}]}}',
    ),
    "semanticscholar": (
        {
            "paperId": "p",
            "title": "t",
            "abstract": "w",
            "year": 2020,
            "journal": {"name": "J"},
            "externalIds": {"DOI": "10.5555/x"},
            "authors": [{"name": "A B"}],
        },
        ("paperId", "title"),
        '{{"total":1,"data":[{0}]}}',
    ),
    "europepmc": (
        {
            "id": "1",
            "source": "MED",
            "title": "t",
            "doi": "10.5555/x",
            "abstractText": "w",
            "authorList": {"author": [{"lastName": "B"}]},
            "journalInfo": {"journal": {"title": "J"}},
        },
        ("id", "source", "title"),
        '{{"hitCount":1,"resultList":{{"result":[{0}]}}}}',
    ),
    "datacite": (
        {
            "doi": "10.5555/x",
            "titles": [{"title": "t"}],
            "creators": [{"name": "B, A"}],
            "publisher": "P",
            "publicationYear": 2020,
            "types": {"resourceTypeGeneral": "Dataset"},
            "descriptions": [{"description": "w", "descriptionType": "Abstract"}],
        },
        ("doi", "titles"),
        '{{"data":[{{"attributes":{0}}}]}}',
    ),
    "dblp": (
        {
            "key": "k",
            "title": "t",
            "year": "2020",
            "venue": "J",
            "authors": {"author": {"text": "A B"}},
            "doi": "10.5555/x",
            "type": "Journal Articles",
        },
        ("key", "title"),
        '{{"result":{{"hits":{{"hit":[{{"info":{0}}}]}}}}}}',
    ),
    "doaj": (
        {
            "title": "t",
            "abstract": "w",
            "year": "2020",
            "author": [{"name": "A B"}],
            "identifier": [{"id": "10.5555/x", "type": "doi"}],
            "journal": {"title": "J"},
            "link": None,
        },
        ("title",),
        '{{"results":[{{"id":"i","bibjson":{0}}}]}}',
    ),
}


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_any_field_but_the_name_may_be_null_or_missing(name: str) -> None:
    record, needed, frame = SAMPLES[name]
    optional = [each for each in record if each not in needed]
    subsets = chain.from_iterable(combinations(optional, size) for size in range(len(optional) + 1))
    for lost in subsets:
        for changed in (
            {name: None if name in lost else value for name, value in record.items()},
            {name: value for name, value in record.items() if name not in lost},
        ):
            parsed = _parsed(name, frame.format(json.dumps(changed)).encode())
            assert len(parsed.documents) == 1
            assert parsed.documents[0].title == "t"


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_wrong_record_does_not_spoil_the_others(name: str) -> None:
    record, _needed, frame = SAMPLES[name]
    body = frame.format(f'{json.dumps(record)}]##[{{"x":1}}').replace("]##[", ",")
    if name in {"datacite", "dblp", "doaj"}:  # their frames wrap each record once more
        wrapped = frame.format(json.dumps(record))
        body = wrapped.replace("[{", '[{"x":1},{', 1)
    parsed = _parsed(name, body.encode())
    assert [document.title for document in parsed.documents] == ["t"]
    assert parsed.note.startswith("1 records ")


# --- parse under fire ----------------------------------------------------------------------------------------------

_NAMES = sorted(
    {key for record, _needed, _frame in SAMPLES.values() for key in record}
    | {"results", "data", "total", "meta", "error", "errors", "message", "status", "resultList"}
    | {"result", "hits", "hit", "info", "bibjson", "attributes", "esearchresult", "idlist", "count"}
    | {
        "source",
        "type",
        "title",
        "name",
        "author",
        "text",
        "errCode",
        "hitCount",
        "ERROR",
        "paperId",
    }
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(_NAMES) | st.text(max_size=4), inner, max_size=6)
    ),
    max_leaves=25,
)


def _survives(name: str, body: bytes) -> None:
    adapter = _adapter(name)
    for text in ("x", "PMID 1"):
        request = adapter.build(SourceQuery(text=text))[0]
        try:
            parsed = _parsed(name, body, request)
        except BadReply:
            continue
        assert all(isinstance(each, Document) for each in parsed.documents)
        msgspec.json.encode(parsed)  # what is parsed can be written down


@pytest.mark.parametrize("name", sorted(KINDS))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(body=st.binary(max_size=300))
def test_bytes_give_documents_or_bad_reply(name: str, body: bytes) -> None:
    _survives(name, body)


@pytest.mark.parametrize("name", sorted(KINDS))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(value=JSON)
def test_json_gives_documents_or_bad_reply(name: str, value: object) -> None:
    _survives(name, json.dumps(value).encode())
    if name in SAMPLES:
        record, _needed, frame = SAMPLES[name]
        spoilt = record | (value if isinstance(value, dict) else {})
        _survives(name, frame.format(json.dumps(spoilt)).encode())


TAGS = re.findall(
    r"\w+",
    "PubmedArticle MedlineCitation PMID Article ArticleTitle Abstract AbstractText Journal JournalIssue "
    "PubDate Year Month Day AuthorList Author LastName Language PubmedData ArticleIdList ArticleId",
)
XML = st.recursive(
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=12).map(
        lambda text: text.replace("&", "").replace("<", "")
    ),
    lambda inner: st.lists(
        st.tuples(
            st.sampled_from(TAGS),
            inner,
        ),
        max_size=4,
    ).map(lambda pairs: "".join(f"<{tag}>{body}</{tag}>" for tag, body in pairs)),
    max_leaves=20,
)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(inner=XML)
def test_xml_gives_documents_or_bad_reply(inner: str) -> None:
    _survives("pubmed", f"<PubmedArticleSet>{inner}</PubmedArticleSet>".encode())
    citation = f"<MedlineCitation><PMID>1</PMID>{inner}</MedlineCitation>"
    article = f"<PubmedArticle>{citation}</PubmedArticle>"
    _survives("pubmed", f"<PubmedArticleSet>{article}</PubmedArticleSet>".encode())


@pytest.mark.parametrize("name", sorted(KINDS))
@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 100_000, b"<a>" * 100_000, b""])
def test_deep_nesting_and_nothing_are_bad_replies(name: str, body: bytes) -> None:
    for text in ("x", "PMID 1"):
        request = _adapter(name).build(SourceQuery(text=text))[0]
        with pytest.raises(BadReply):
            _parsed(name, body, request)


@pytest.mark.parametrize("filling", ["<p ", ". ", "&lt;", "<a", " ", "[", "(("])
@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_long_hostile_titles_and_abstracts_take_linear_time(name: str, filling: str) -> None:
    """Quadratic work on 400,000 characters would take minutes; the test's own time limit is the judge."""
    record, _needed, frame = SAMPLES[name]
    long = filling * (400_000 // len(filling))
    for field in ("title", "display_name", "abstract", "abstractText", "name"):
        if field in record:
            _survives(name, frame.format(json.dumps(record | {field: long})).encode())


def test_positions_of_words_may_be_huge_or_have_gaps() -> None:
    index = {"far": [10**15], "first": [0], "again": [7, 3]}
    body = {"results": [{"id": "W1", "display_name": "t", "abstract_inverted_index": index}]}
    (document,) = _parsed("openalex", json.dumps(body).encode()).documents
    assert document.text == "t\n\nfirst again again far"


def test_openalex_does_not_read_the_field_that_is_gone() -> None:
    """`host_venue` left the API; who still reads it has no journal. A null `source` is no fault."""
    record = {
        "id": "W1",
        "display_name": "t",
        "publication_year": 2020,
        "host_venue": {"display_name": "Old"},
        "primary_location": {"source": {"display_name": "New", "type": "journal"}},
    }
    bare = {"id": "W2", "display_name": "u", "primary_location": {"source": None}}
    body = json.dumps({"results": [record, bare]}).encode()
    assert [each.container for each in _parsed("openalex", body).documents] == ["New", ""]
