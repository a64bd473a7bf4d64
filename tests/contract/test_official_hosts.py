"""The emulated official sources: strict as the APIs are, and pleased by our adapters through the real fetcher."""

from typing import Any

import httpx
import pytest
from signal_search.contracts.source import FetchState, Parsed, Request, SourceQuery

from infra.loopback_web import LoopbackWeb, hosts
from infra.loopback_web.app import sites
from infra.loopback_web.exchange import Answer, Ask
from infra.settings import Settings, load
from tests.fakes.fetching import NOW_MS, an_open_record, with_fetcher
from workers.fetching.decoding import as_reply
from workers.fetching.fetcher import Exchange, Fetched, Finished
from workers.registry import Registry

MAIL = "me@example.org"
PLAIN = f"SignalSearchBot/0.1 {MAIL}"
EFTS = "/LATEST/search-index"
WORLD_BANK = "/v2/country/ISL/indicator/SP.POP.TOTL?format=json"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GUARDIAN_API_KEY", "hunter2")


def _settings(web: LoopbackWeb, mailto: str = MAIL) -> Settings:
    named = load().sources.model_dump() | {"mailto": mailto}
    return load(loopback={"only": True, "hosts": hosts(web.port)}, sources=named)


def _exchange(settings: Settings, request: Request) -> Exchange:
    origin = "/".join(request.url.split("/")[:3])
    return with_fetcher(settings, lambda fetcher: fetcher.fetch(request, an_open_record(origin)))


def _ask(
    web: LoopbackWeb, host: str, path: str, method: str = "GET", **more: Any
) -> httpx.Response:
    headers = {"host": host, "user-agent": PLAIN, **more.pop("headers", {})}
    with httpx.Client(trust_env=False) as client:
        return client.request(method, f"http://127.0.0.1:{web.port}{path}", headers=headers, **more)


# --- the whole -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source_id", "text", "statement"),
    [
        ("worldbank", "What is the population of Iceland?", "was 404,610 in 2024."),
        (
            "worldbank",
            "tidal electricity output of Iceland",
            "% of total electricity output, was 0.58",
        ),
        ("edgar", "Merrin tidal turbines 10-K", "filed form 10-K (annual report) with the SEC on"),
        ("clinicaltrials", "green tea extract trial", "It enrolled 148 participants"),
        ("clinicaltrials", "status of NCT99900102", "Its status is recruiting."),
        ("openfda", "What is the maximum dose of Calmarin?", "The maximum dose is 100 mg a day."),
        ("courtlistener", "notice before a public slipway is closed", "thirty days of notice"),
        ("courtlistener", "What did 999 U.S. 113 hold?", "Orchard v. Merrin Harbour Board was"),
        ("federalregister", "standards for tidal turbines", "It takes effect on 2026-05-04."),
        ("dataeuropa", "tidal energy production", "in gigawatt hours, since 2008."),
        ("who", "life expectancy at birth in Iceland", "was 82.46 (between 81.9 and 83) in 2023."),
        ("gdelt", "tidal array record", "Tidal array sets a record in May"),
        ("guardian", "tidal array record", "delivered 7.4 gigawatt hours in May"),
    ],
)
def test_our_adapters_please_the_strict_hosts(
    web: LoopbackWeb, source_id: str, text: str, statement: str
) -> None:
    settings = _settings(web)
    registry = Registry(settings)
    texts, todo = [], list(registry.source(source_id).adapter.build(SourceQuery(text=text)))
    while todo:
        request = todo.pop(0)
        made = _exchange(settings, request)
        assert isinstance(made, Fetched), made
        parsed = Parsed() if request.kind == "page" else registry.parse(request, as_reply(made.raw))
        texts += [document.text for document in parsed.documents]
        todo += parsed.requests
    assert statement in "\n".join(texts)
    assert {(entry.status, entry.complaint) for entry in web.log.entries()} == {(200, "")}


def test_no_match_at_openfda_is_an_answer(web: LoopbackWeb) -> None:
    settings = _settings(web)
    source = Registry(settings).source("openfda")
    (request,) = source.adapter.build(SourceQuery(text="zyzzyva"))
    made = _exchange(settings, request)
    assert isinstance(made, Fetched)
    assert made.raw.status == 404
    assert source.adapter.parse(request, as_reply(made.raw)) == Parsed(total=0)


def test_a_404_of_any_other_api_is_still_missing(web: LoopbackWeb) -> None:
    url = "https://ghoapi.azureedge.net/api/NO_SUCH"
    made = _exchange(_settings(web), Request(url=url, adapter="who", source_id="who", kind="api"))
    assert isinstance(made, Finished)
    assert (made.outcome.state, made.outcome.reason) == (FetchState.MISSED, "source_not_found")


def test_the_sec_is_asked_by_who_names_a_mail_address_only(web: LoopbackWeb) -> None:
    views = {view.id: view for view in Registry(_settings(web, mailto="")).views()}
    assert (views["edgar"].access, views["edgar"].enabled) == ("closed", False)
    settings = _settings(web)
    (request,) = Registry(settings).source("edgar").adapter.build(SourceQuery(text="tidal"))
    assert isinstance(_exchange(settings, request), Fetched)
    version = settings.fetch.version
    assert {each.user_agent for each in web.log.entries()} == {f"SignalSearchBot/{version} {MAIL}"}
    unnamed = _exchange(
        settings, Request(url=request.url, adapter="edgar", source_id="edgar", kind="api")
    )
    assert isinstance(unnamed, Finished)
    assert unnamed.outcome.reason == "source_denied"


# --- strictness ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "path", "status", "part"),
    [
        ("api.worldbank.org", WORLD_BANK + "&per_page=0", 200, '"id":"120"'),
        ("api.worldbank.org", WORLD_BANK.replace("ISL", "QQQ"), 200, '"id":"120"'),
        ("api.worldbank.org", WORLD_BANK + "&date=last", 200, '"id":"120"'),
        ("api.worldbank.org", "/v2/search/tea?format=json", 200, '"id":"110"'),
        ("api.worldbank.org", WORLD_BANK.partition("?")[0], 200, "<wb:data"),
        ("efts.sec.gov", EFTS + "?q=tidal&size=5", 400, "Bad request"),
        ("efts.sec.gov", EFTS, 400, "Bad request"),
        ("efts.sec.gov", EFTS + "?q=tidal&startdt=2020-01-01", 400, "Bad request"),
        ("efts.sec.gov", EFTS + "?q=tidal&dateRange=custom&startdt=2020&enddt=2021", 400, "Bad"),
        ("clinicaltrials.gov", "/api/v2/studies?query.term=tea&limit=5", 400, "Unknown parameter"),
        ("clinicaltrials.gov", "/api/v2/studies?pageSize=1001", 400, "pageSize"),
        ("clinicaltrials.gov", "/api/v2/studies?fields=NCTId,Nonsense", 400, "fields"),
        ("clinicaltrials.gov", "/api/v2/studies?filter.ids=NCT1", 400, "filter.ids"),
        ("clinicaltrials.gov", "/api/v2/studies?filter.advanced=AREA[x]", 400, "syntax"),
        ("api.fda.gov", "/drug/label.json?search=tea&limit=1001", 400, "BAD_REQUEST"),
        ("api.fda.gov", "/drug/label.json?q=tea", 400, "Invalid parameter"),
        ("api.fda.gov", "/drug/label.json?search=openfda.brand_name:(tea", 400, "BAD_REQUEST"),
        ("api.fda.gov", "/drug/label.json?search=openfda.brand_name:(tea)", 404, "NOT_FOUND"),
        ("www.courtlistener.com", "/api/rest/v4/search/?q=tea&type=zz", 400, "type"),
        ("www.courtlistener.com", "/api/rest/v4/search/?q=tea&filed_after=1/2/20", 400, "date"),
        ("www.courtlistener.com", "/api/rest/v4/search/?q=tea&order_by=best", 400, "order_by"),
        ("www.federalregister.gov", "/api/v1/documents.json?term=tea", 400, '"term"'),
        ("www.federalregister.gov", "/api/v1/documents.json?per_page=1001", 400, '"per_page"'),
        ("www.federalregister.gov", "/api/v1/documents.json?fields[]=nonsense", 400, '"fields"'),
        (
            "www.federalregister.gov",
            "/api/v1/documents.json?conditions[term]=zyzzyva",
            200,
            '"count":0',
        ),
        ("data.europa.eu", "/api/hub/search/search?q=tea&rows=5", 400, "Bad Request"),
        ("data.europa.eu", "/api/hub/search/search?q=tea&limit=5000", 400, "Bad Request"),
        ("data.europa.eu", "/api/hub/search/search?q=tea&sort=relevance+desc", 400, "Bad Request"),
        ("ghoapi.azureedge.net", "/api/Indicator?$search=tea", 400, "not valid"),
        (
            "ghoapi.azureedge.net",
            "/api/Indicator?$filter=substringof('x',IndicatorName)",
            400,
            "Syntax",
        ),
        ("ghoapi.azureedge.net", "/api/WHOSIS_000001?$filter=SpatialDim eq ISL", 400, "Syntax"),
        (
            "api.gdeltproject.org",
            "/api/v2/doc/doc?query=&mode=artlist&format=json",
            200,
            "too short",
        ),
        (
            "api.gdeltproject.org",
            "/api/v2/doc/doc?query=of&mode=artlist&format=json",
            200,
            "phrase",
        ),
        (
            "api.gdeltproject.org",
            f"/api/v2/doc/doc?query={'x' * 251}&mode=artlist&format=json",
            200,
            "long",
        ),
        (
            "api.gdeltproject.org",
            "/api/v2/doc/doc?query=tea&mode=artlist&format=xml",
            200,
            "Invalid",
        ),
        (
            "api.gdeltproject.org",
            "/api/v2/doc/doc?query=zyzzyva&mode=artlist&format=json",
            200,
            "{}",
        ),
        ("content.guardianapis.com", "/search?q=tea", 401, "No API key"),
        ("content.guardianapis.com", "/search?q=tea&api-key=k&limit=5", 400, "unknown parameter"),
        ("content.guardianapis.com", "/search?q=tea&api-key=k&page-size=500", 400, "page-size"),
        ("content.guardianapis.com", "/search?q=tea&api-key=k&from-date=2020", 400, "date"),
    ],
)
def test_wrong_questions_get_the_answers_of_the_api(
    web: LoopbackWeb, host: str, path: str, status: int, part: str
) -> None:
    reply = _ask(web, host, path)
    assert (reply.status_code, part in reply.text) == (status, True), reply.text


@pytest.mark.parametrize(
    "agent", ["", "python-requests/2.31", f"Bot/1 (+https://x.example; {MAIL})", "Bot/1 (mail)"]
)
def test_the_sec_refuses_who_does_not_declare_himself(web: LoopbackWeb, agent: str) -> None:
    reply = _ask(web, "efts.sec.gov", EFTS + "?q=tidal", headers={"user-agent": agent})
    assert (reply.status_code, "Undeclared Automated Tool" in reply.text) == (403, True)


HOSTS = {
    "efts.sec.gov": (EFTS + "?q=tidal", 10, 1_000, 403),
    "clinicaltrials.gov": ("/api/v2/studies?query.term=tea", 50, 60_000, 429),
    "api.fda.gov": ("/drug/label.json?search=openfda.brand_name:(calmarin)", 240, 60_000, 429),
    "www.courtlistener.com": ("/api/rest/v4/search/?q=slipway&type=o", 5, 60_000, 429),
    "api.gdeltproject.org": ("/api/v2/doc/doc?query=tidal&mode=artlist&format=json", 1, 5_000, 429),
    "content.guardianapis.com": ("/search?q=tidal&api-key=k", 1, 1_000, 429),
}


@pytest.mark.parametrize("host", sorted(HOSTS))
def test_published_paces_are_enforced_when_asked_to(host: str) -> None:
    target, most, within_ms, status = HOSTS[host]
    site, relaxed = sites(enforce_pace=True)[host], sites(enforce_pace=False)[host]

    def at(site: Any, now_ms: int) -> Answer:
        path, _mark, query = target.partition("?")
        asked = Ask(
            host=host,
            method="GET",
            path=path,
            query=query,
            headers={"user-agent": PLAIN},
            now_ms=now_ms,
        )
        return site(asked)  # type: ignore[no-any-return]

    assert [at(site, NOW_MS).status for _ in range(most + 1)] == [200] * most + [status]
    assert at(site, NOW_MS + within_ms - 1).status == status
    assert at(site, NOW_MS + within_ms).status == 200
    assert [at(relaxed, NOW_MS).status for _ in range(most + 1)] == [200] * (most + 1)


@pytest.mark.parametrize(
    "host", [*HOSTS, "api.worldbank.org", "data.europa.eu", "ghoapi.azureedge.net"]
)
def test_they_are_read_only(web: LoopbackWeb, host: str) -> None:
    assert _ask(web, host, "/", "POST").status_code == 405
