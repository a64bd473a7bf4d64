"""The academic registers on the loopback web: as strict as the real ones, and our adapters understand them."""

import json
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from lxml import etree
from signal_search.contracts.document import Document
from signal_search.contracts.source import FetchOutcome, Parsed, Reply, Request, SourceQuery

from infra.catalog.catalog import shipped_rows
from infra.clock import FixedClock
from infra.http import RawReply
from infra.loopback_web import LoopbackWeb
from tests.fakes.caller import Caller
from workers.adapter import SourceConfig
from workers.fetching.outcomes import outcome_of_status
from workers.registry import _ADAPTERS

NOW_MS = 1_790_000_000_000
HOSTS = {
    "openalex": "api.openalex.org",
    "semanticscholar": "api.semanticscholar.org",
    "pubmed": "eutils.ncbi.nlm.nih.gov",
    "europepmc": "www.ebi.ac.uk",
    "datacite": "api.datacite.org",
    "dblp": "dblp.org",
    "doaj": "doaj.org",
}
TOO_FAST = {"openalex": 403}  # its 429 says that the day's credit is used up
ROWS = {row.id: row for row in shipped_rows()}
ESEARCH = "/entrez/eutils/esearch.fcgi?db=pubmed&retmode=json"
EPMC = "/europepmc/webservices/rest/search?format=json"
S2 = "/graph/v1/paper"


@pytest.fixture
def ask(client: httpx.Client, web: LoopbackWeb) -> Caller:
    return Caller(client, web.port, HOSTS)


def _fetch(ask: Caller, request: Request) -> httpx.Response:
    """Ask as the fetcher would: the key goes where the row says."""
    parts = urlsplit(request.url)
    assert (parts.scheme, parts.hostname) == ("https", HOSTS[request.adapter])
    key = "&api_key=test-key" if request.auth else ""
    return ask(request.adapter, f"{parts.path}?{parts.query}{key}")


def _answers(ask: Caller, name: str, question: SourceQuery) -> list[Parsed]:
    """Build, ask, parse, and follow up until nothing is left to ask."""
    row = ROWS[name]
    config = SourceConfig(
        id=name, endpoint=row.endpoint, auth=row.key_env, auth_place=row.key_place
    )
    adapter = _ADAPTERS[name](config)
    found, todo = [], list(adapter.build(question))
    while todo:
        request = todo.pop(0)
        reply = _fetch(ask, request)
        assert reply.status_code == 200, reply.text
        found.append(adapter.parse(request, _as_reply(request, reply)))
        todo += found[-1].requests
    return found


def _as_reply(request: Request, reply: httpx.Response) -> Reply:
    return Reply(
        url=request.url,
        status=reply.status_code,
        content_type=reply.headers.get("content-type", ""),
        body=reply.content,
        text=reply.text,
        fetched_at_ms=NOW_MS,
        headers=dict(reply.headers),
    )


def _documents(ask: Caller, name: str, question: SourceQuery) -> tuple[Document, ...]:
    return _answers(ask, name, question)[-1].documents


# --- adapter and register together ---------------------------------------------------------------------------------

BEES = "Hive density and wild bees in six cities"


@pytest.mark.parametrize(
    ("name", "title", "doi", "published"),
    [
        ("openalex", BEES, "10.5555/bees.2021.044", "2021-11-01"),
        ("semanticscholar", BEES, "10.5555/bees.2021.044", "2021"),
        ("pubmed", BEES, "10.5555/bees.2021.044", "2021-11"),
        ("europepmc", BEES, "10.5555/bees.2021.044", "2021-11-01"),
        ("doaj", BEES, "10.5555/bees.2021.044", "2021-11"),
        ("datacite", "Counts of bees in 126 city gardens", "10.5555/data.bees.2021", "2021-06"),
    ],
)
def test_a_search_finds_the_work_with_its_facts(
    ask: Caller, web: LoopbackWeb, name: str, title: str, doi: str, published: str
) -> None:
    found = _documents(ask, name, SourceQuery(text="hive density wild bees", limit=5))
    best = found[0]
    assert (best.title, best.doi, best.published) == (title, doi, published)
    assert best.url == f"https://doi.org/{doi}" or name == "pubmed"
    assert (best.authors[0].family, best.authors[0].given) == ("Ambrose", "Chloe")
    assert "bees" in best.text.partition("\n\n")[2]
    assert [entry.complaint for entry in web.log.entries() if entry.complaint] == []


def test_dblp_finds_papers_without_abstracts(ask: Caller, web: LoopbackWeb) -> None:
    (leases,) = _documents(ask, "dblp", SourceQuery(text="leases and fences"))
    assert leases.text == (
        "Leases and fences: queues that survive their workers. Proc. Invented Distributed Systems, 2021."
    )
    assert [author.family for author in leases.authors] == ["Ferrante", "Chang"]
    (buckets,) = _documents(ask, "dblp", SourceQuery(text="token buckets"))
    assert (buckets.title, buckets.work_type, buckets.arxiv_id) == (
        "Token buckets & their drift",
        "preprint",
        "2301.99012",
    )
    (crawl,) = _documents(ask, "dblp", SourceQuery(text="million hosts"))
    assert crawl.retracted
    assert [entry.complaint for entry in web.log.entries() if entry.complaint] == []


@pytest.mark.parametrize("name", sorted(HOSTS))
def test_no_results_are_no_results(ask: Caller, name: str) -> None:
    answers = _answers(ask, name, SourceQuery(text="zyzzyva"))
    assert [(each.documents, each.total) for each in answers] == [((), 0)]


@pytest.mark.parametrize("name", ["openalex", "semanticscholar", "pubmed", "europepmc", "doaj"])
def test_retracted_works_are_marked(ask: Caller, name: str) -> None:
    found = _documents(ask, name, SourceQuery(text="rooftop strawberries hives yield"))
    marks = {each.doi: (each.retracted, each.signals) for each in found}
    if name in {
        "semanticscholar",
        "doaj",
    }:  # these registers have no flag and the title says nothing
        assert marks["10.5555/bees.2018.500"] == (False, ())
        return
    assert marks["10.5555/bees.2018.500"] == (True, ())
    assert marks["10.5555/bees.2020.501"] == (True, ("retraction_notice",))


@pytest.mark.parametrize(
    ("name", "freshness", "dois"),
    [
        ("openalex", "2019-01-01..2019-12-31", {"10.5555/bees.2019.009"}),
        ("semanticscholar", "2019-01-01..2019-12-31", {"10.5555/bees.2019.009"}),
        ("pubmed", "2019-01-01..2019-12-31", {"10.5555/bees.2019.009"}),
        ("europepmc", "2019-01-01..2019-12-31", {"10.5555/bees.2019.009"}),
        ("doaj", "2019-05-01..2019-12-31", {"10.5555/bees.2019.009"}),
        ("datacite", "2021-07-01..2021-12-31", {"10.5555/data.bees.2021"}),
    ],
)
def test_a_range_of_days_narrows_the_search_itself(
    ask: Caller, name: str, freshness: str, dois: set[str]
) -> None:
    """DOAJ and DataCite know years only: what lies outside the days comes too, and is left out afterwards."""
    question = SourceQuery(text="wild bees", freshness=freshness)
    assert {each.doi for each in _documents(ask, name, question)} == dois
    empty = SourceQuery(text="wild bees", freshness="1960-01-01..1960-12-31")
    assert _documents(ask, name, empty) == ()


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("openalex", "10.5555/TEA.2022.060", "Water temperature and bitterness of green tea"),
        (
            "semanticscholar",
            "10.5555/tea.2022.060",
            "Water temperature and bitterness of green tea",
        ),
        ("pubmed", "doi 10.5555/tea.2022.060.", "Water temperature and bitterness of green tea"),
        ("europepmc", "10.5555/tea.2022.060", "Water temperature and bitterness of green tea"),
        ("doaj", "10.5555/tea.2022.060", "Water temperature and bitterness of green tea"),
        (
            "datacite",
            "10.5555/soft.cycler.2023",
            "Cycler: a program that reads the logs of battery testers",
        ),
        (
            "semanticscholar",
            "arXiv:2310.99010",
            "Extraction kinetics of catechins and caffeine in tea",
        ),
        ("pubmed", "PMID 99000001", "The height of Mount Corvel from satellite positioning"),
        ("openalex", "W9900000001", "The height of Mount Corvel from satellite positioning"),
    ],
)
def test_an_identifier_finds_exactly_its_work(
    ask: Caller, name: str, text: str, title: str
) -> None:
    assert [each.title for each in _documents(ask, name, SourceQuery(text=text))] == [title]


def test_preprints_are_preprints_everywhere(ask: Caller) -> None:
    """One with a container would count as published in a venue."""
    for name in ("openalex", "semanticscholar", "europepmc"):
        found = _documents(ask, name, SourceQuery(text="seals slow rotors", limit=1))
        assert [(each.work_type, each.container) for each in found] == [("preprint", "")]
        assert found[0].publisher


def test_chinese_works_are_found(ask: Caller) -> None:
    for name, doi in (("openalex", "10.5555/zh.2023.018"), ("datacite", "10.5555/data.zh.2023")):
        found = _documents(ask, name, SourceQuery(text="x", terms=("潮流电站",), language="zh"))
        assert (found[0].doi, found[0].language) == (doi, "zh")


# --- strict ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "path", "status"),
    [
        ("openalex", "/works?search=tea", 401),
        ("openalex", "/works?api_key=k&search=tea&per_page=101", 400),
        ("openalex", "/works?api_key=k&search=tea&rows=5", 400),
        ("openalex", "/works?api_key=k&filter=from_pub_date:2020-01-01", 400),
        ("openalex", "/works?api_key=k&filter=from_publication_date:2020", 400),
        ("openalex", "/works?api_key=k&select=host_venue", 400),
        ("openalex", "/works?api_key=k&search=te*", 400),
        ("openalex", "/works?api_key=k&page=101&per_page=100", 400),
        ("openalex", "/works/doi:10.5555%2Fnone?api_key=k", 404),
        ("semanticscholar", f"{S2}/search?query=tea&limit=101", 400),
        ("semanticscholar", f"{S2}/search?query=tea&offset=950&limit=100", 400),
        ("semanticscholar", f"{S2}/search?query=tea&fields=title,doi", 400),
        ("semanticscholar", f"{S2}/search?query=tea&from=2020", 400),
        ("semanticscholar", f"{S2}/search?query=tea&publicationDateOrYear=2020..2021", 400),
        ("semanticscholar", f"{S2}/search", 400),
        ("semanticscholar", f"{S2}/DOI:10.5555%2Fnone", 404),
        ("pubmed", f"{ESEARCH}&term=tea&hits=5", 400),
        ("pubmed", "/entrez/eutils/esearch.fcgi?db=books&term=tea", 400),
        ("pubmed", "/entrez/eutils/efetch.fcgi?db=pubmed&retmode=xml&id=", 400),
        ("pubmed", "/entrez/eutils/einfo.fcgi?db=pubmed", 404),
        ("europepmc", f"{EPMC}&query=tea&pageSize=1001", 400),
        ("europepmc", f"{EPMC}&query=tea&rows=5", 400),
        ("europepmc", f"{EPMC}&query=tea&resultType=full", 400),
        ("europepmc", f"{EPMC}&query=(tea", 400),
        ("europepmc", f"{EPMC}&query=TITLEX:%22tea%22", 400),
        ("datacite", "/dois?query=tea&page[size]=1001", 400),
        ("datacite", "/dois?query=tea&rows=5", 400),
        ("datacite", "/dois?query=tea*", 400),
        ("datacite", "/dois?query=tea&sort=best", 400),
        ("datacite", "/dois/10.5555%2Fnone", 404),
        ("dblp", "/search/publ/api?q=x&format=json&h=1001", 400),
        ("dblp", "/search/publ/api?q=x&format=json&limit=5", 400),
        ("dblp", "/search/author?q=x", 404),
        ("doaj", "/api/search/articles/tea?pageSize=101", 400),
        ("doaj", "/api/search/articles/tea?limit=5", 400),
        ("doaj", "/api/search/articles/te%2A", 400),
        ("doaj", "/search/articles/tea", 403),
    ],
)
def test_wrong_requests_fail_as_they_do_there(
    ask: Caller, name: str, path: str, status: int
) -> None:
    assert ask(name, path).status_code == status


@pytest.mark.parametrize("name", sorted(HOSTS))
def test_other_methods_are_not_allowed(ask: Caller, name: str) -> None:
    assert ask(name, "/", "DELETE").status_code == 405


def test_pubmed_sends_errors_with_200_and_names_unknown_words(ask: Caller) -> None:
    empty = ask("pubmed", f"{ESEARCH}&term=").json()["esearchresult"]
    assert empty == {"ERROR": "Empty term and query_key - nothing todo"}
    assert "ERROR" in ask("pubmed", f"{ESEARCH}&term=tea&retmax=10001").json()["esearchresult"]
    assert "ERROR" in ask("pubmed", f"{ESEARCH}&term=tea&mindate=2020").json()["esearchresult"]
    found = ask("pubmed", f"{ESEARCH}&term=tea+zyzzyva").json()["esearchresult"]
    assert (found["count"], found["errorlist"]["phrasesnotfound"]) == ("0", ["zyzzyva"])


def test_pubmed_records_have_a_document_type(ask: Caller) -> None:
    path = "/entrez/eutils/efetch.fcgi?db=pubmed&retmode=xml&id=99000001,5"
    root = etree.fromstring(ask("pubmed", path).content)
    assert root.getroottree().docinfo.internalDTD.name == "PubmedArticleSet"
    assert [each.text for each in root.iter("PMID")] == ["99000001"]


def test_only_what_is_asked_for_comes_back(ask: Caller) -> None:
    (paper,) = ask("semanticscholar", f"{S2}/search?query=oolong+history&fields=year").json()[
        "data"
    ]
    assert set(paper) == {"paperId", "year"}
    chosen = ask("openalex", "/works?api_key=k&search=oolong+history&select=id,doi").json()
    assert [set(work) for work in chosen["results"]] == [{"id", "doi"}]
    lite = ask("europepmc", f"{EPMC}&query=oxygen").json()["resultList"]["result"]
    assert lite
    assert not any("abstractText" in each for each in lite)


def test_known_traps_are_there(ask: Caller) -> None:
    hyphen = ask("semanticscholar", f"{S2}/search?query=sodium-ion").json()
    assert hyphen == {"total": 0, "offset": 0}
    assert ask("doaj", "/api/search/articles/wild+bees").json()["total"] == 0
    assert ask("doaj", "/api/search/articles/wild%20bees").json()["total"] > 0
    unnamed = ask("europepmc", "/europepmc/webservices/rest/search?query=tea")
    assert unnamed.headers["content-type"] == "application/xml"
    hit = ask("dblp", "/search/publ/api?q=polite&format=json").json()["result"]["hits"]["hit"][0]
    assert hit["info"]["authors"]["author"]["text"] == "Irma Ferrante"
    kept = ask("europepmc", f"{EPMC}&query=seals%20AND%20SRC:PPR").json()
    assert [each["source"] for each in kept["resultList"]["result"]] == ["PPR"]


@pytest.mark.parametrize(
    ("name", "path", "most", "within_ms"),
    [
        ("openalex", "/works?api_key=k&search=tea", 100, 1_000),
        ("semanticscholar", f"{S2}/search?query=tea", 100, 300_000),
        ("pubmed", f"{ESEARCH}&term=tea", 3, 1_000),
        ("pubmed", f"{ESEARCH}&term=tea&api_key=k", 10, 1_000),
        ("dblp", "/search/publ/api?q=x&format=json", 1, 1_000),
        ("doaj", "/api/search/articles/tea", 5, 2_500),
    ],
)
def test_published_rates_are_enforced_when_asked_for(
    client: httpx.Client, name: str, path: str, most: int, within_ms: int
) -> None:
    clock = FixedClock(NOW_MS)
    with LoopbackWeb(clock=clock, enforce_pace=True) as web:
        call = Caller(client, web.port, HOSTS)
        statuses = [call(name, path).status_code for _ in range(most + 1)]
        refused = TOO_FAST.get(name, 429)
        assert statuses == [200] * most + [refused]
        clock.advance(within_ms - 1)
        assert call(name, path).status_code == refused
        clock.advance(1)
        assert call(name, path).status_code == 200


# --- one source refuses, the others answer ------------------------------------------------------------------------


def _outcome(name: str, status: int, body: bytes, headers: dict[str, str]) -> FetchOutcome | None:
    (request,) = _ADAPTERS[name](SourceConfig(id=name, endpoint=ROWS[name].endpoint)).build(
        SourceQuery(text="x")
    )
    raw = RawReply(
        url=request.url,
        status=status,
        headers=headers,
        body=body,
        fetched_at_ms=NOW_MS,
        wire_bytes=len(body),
        cut=False,
    )
    return outcome_of_status(request, raw)


@pytest.mark.parametrize(
    ("name", "status", "body", "headers", "reason"),
    [
        ("openalex", 404, b"<!doctype html><title>404</title>", {}, "source_not_found"),
        ("openalex", 429, b'{"error":"Rate limit exceeded"}', {}, "source_rate_limited"),
        ("openalex", 401, b'{"error":"Unauthorized"}', {}, "source_denied"),
        (
            "semanticscholar",
            429,
            b'{"message":"Too Many Requests","code":"429"}',
            {},
            "source_rate_limited",
        ),
        (
            "semanticscholar",
            504,
            b'{"message":"Endpoint request timed out"}',
            {},
            "source_server_fault",
        ),
        (
            "pubmed",
            429,
            b'{"error":"API rate limit exceeded","count":"5"}',
            {},
            "source_rate_limited",
        ),
        ("crossref", 429, b"<html><h1>429</h1></html>", {}, "source_rate_limited"),
        ("datacite", 429, b"<html></html>", {"retry-after": "300"}, "source_rate_limited"),
        ("dblp", 500, b"<html></html>", {}, "source_server_fault"),
        ("doaj", 400, b'{"status":"bad_request","error":"x"}', {}, "source_bad_reply"),
    ],
)
def test_error_statuses_say_what_happened_whatever_the_body(
    name: str, status: int, body: bytes, headers: dict[str, str], reason: str
) -> None:
    outcome = _outcome(name, status, body, headers)
    assert outcome is not None
    assert (outcome.state, outcome.reason) == ("missed", reason)
    assert outcome.until_ms == (NOW_MS + 300_000 if headers else None)


@pytest.mark.parametrize("status", [403, 429, 500, 503])
def test_a_failing_register_does_not_touch_another(
    ask: Caller, web: LoopbackWeb, status: int
) -> None:
    fault: dict[str, Any] = {"host": HOSTS["semanticscholar"], "status": status, "count": None}
    web_call = ask.client.post(
        f"http://127.0.0.1:{ask.port}/__faults",
        content=json.dumps(fault),
        headers={"host": HOSTS["dblp"]},
    )
    assert web_call.status_code == 201
    assert ask("semanticscholar", f"{S2}/search?query=tea").status_code == status
    assert _documents(ask, "openalex", SourceQuery(text="green tea"))
    assert _documents(ask, "pubmed", SourceQuery(text="green tea"))
