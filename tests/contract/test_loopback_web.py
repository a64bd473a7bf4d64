"""The loopback web: strict as the APIs it stands for, faulty on order, honest in its log, and on 127.0.0.1 only."""

import json
import socket
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from lxml import etree
from signal_search.contracts.source import Reply, Request, SourceQuery

from infra.clock import FixedClock
from infra.loopback_web import LoopbackWeb, hosts
from infra.loopback_web.app import sites
from infra.settings import load
from tests.fakes.caller import AGENT, Caller, agent
from tests.fakes.servers import wait_until
from workers.registry import Registry

NOW_MS = 1_790_000_000_000
ATOM = "{http://www.w3.org/2005/Atom}"
WIKI = "action=query&format=json&formatversion=2"


@pytest.fixture
def ask(client: httpx.Client, web: LoopbackWeb) -> Caller:
    return Caller(client, web.port)


def _titles(reply: httpx.Response) -> list[str]:
    return [
        entry.findtext(f"{ATOM}title")
        for entry in etree.fromstring(reply.content).iter(f"{ATOM}entry")
    ]


# --- where and for whom --------------------------------------------------------------------------------------------


def test_it_listens_on_127_0_0_1_only(web: LoopbackWeb) -> None:
    listening = {
        line.split()[1]
        for name in ("tcp", "tcp6")
        for line in Path("/proc/net", name).read_text("utf-8").splitlines()[1:]
        if line.split()[3] == "0A" and line.split()[1].endswith(f":{web.port:04X}")
    }
    assert listening == {f"0100007F:{web.port:04X}"}


def test_hosts_are_settings(web: LoopbackWeb) -> None:
    settings = load(loopback={"hosts": hosts(web.port)})
    assert settings.loopback.hosts["export.arxiv.org"] == f"127.0.0.1:{web.port}"
    assert set(hosts(1)) == set(sites(enforce_pace=False))


def test_an_unknown_host_is_misdirected(ask: Caller) -> None:
    assert ask("example.org", "/").status_code == 421
    assert "harbour.test" in ask("127.0.0.1", "/").text


def test_stopping_frees_the_port() -> None:
    with LoopbackWeb() as web:
        port = web.port
    with socket.create_server(("127.0.0.1", port)):
        pass
    web.stop()


# --- Wikipedia -----------------------------------------------------------------------------------------------------


def test_wikipedia_wants_a_contact_in_the_user_agent(ask: Caller) -> None:
    path = f"/w/api.php?{WIKI}&list=search&srsearch=tea"
    assert (
        ask("en.wikipedia.org", path, headers={"user-agent": "python-httpx/0.28"}).status_code
        == 403
    )
    assert ask("en.wikipedia.org", path).status_code == 200


def test_wikipedia_searches_and_ranks(ask: Caller) -> None:
    body = ask(
        "en.wikipedia.org", f"/w/api.php?{WIKI}&list=search&srsearch=Mount+Corvel+height&srlimit=2"
    ).json()
    assert body["query"]["search"][0]["title"] == "Mount Corvel"
    assert len(body["query"]["search"]) == 2
    assert body["query"]["searchinfo"]["totalhits"] > 2
    assert body["continue"]["sroffset"] == 2
    chinese = ask(
        "zh.wikipedia.org", f"/w/api.php?{WIKI}&list=search&srsearch=科维尔山 海拔"
    ).json()
    assert chinese["query"]["search"][0]["title"] == "科维尔山"
    nothing = ask("en.wikipedia.org", f"/w/api.php?{WIKI}&list=search&srsearch=zyzzyva").json()
    assert nothing["query"] == {"searchinfo": {"totalhits": 0}, "search": []}


@pytest.mark.parametrize(
    ("query", "code"),
    [
        (f"{WIKI}&list=search", "missingparam"),
        (f"{WIKI}&list=search&srsearch=x&srlimit=many", "badinteger"),
        (f"{WIKI}&list=search&srsearch={'x' * 301}", "cirrussearch-query-too-long"),
        (f"{WIKI}&prop=extracts&pageids=one", "badinteger"),
        (f"{WIKI}&prop=extracts&pageids={'|'.join(map(str, range(51)))}", "toomanyvalues"),
        ("action=explode&format=json&formatversion=2", "badvalue"),
    ],
)
def test_wikipedia_sends_errors_with_200(ask: Caller, query: str, code: str) -> None:
    reply = ask("en.wikipedia.org", f"/w/api.php?{query}")
    assert (reply.status_code, reply.json()["error"]["code"]) == (200, code)
    assert reply.headers["mediawiki-api-error"] == code


def test_wikipedia_warns_of_what_it_does_not_know(ask: Caller, web: LoopbackWeb) -> None:
    body = ask(
        "en.wikipedia.org", f"/w/api.php?{WIKI}&list=search&srsearch=tea&foo=1&srlimit=501"
    ).json()
    assert body["warnings"]["main"]["warnings"] == "Unrecognized parameters: foo."
    assert "between 1 and 500" in body["warnings"]["search"]["warnings"]
    assert "foo" in web.log.entries()[0].complaint


def test_wikipedia_gives_one_whole_article_or_many_introductions(ask: Caller) -> None:
    base = f"/w/api.php?{WIKI}&prop=extracts&explaintext=1&pageids=1001|1004"
    whole = ask("en.wikipedia.org", f"{base}&exlimit=2").json()
    assert ["extract" in page for page in whole["query"]["pages"]] == [True, False]
    assert "lowered to 1" in whole["warnings"]["extracts"]["warnings"]
    assert "== Climbing ==" in whole["query"]["pages"][0]["extract"]
    intros = ask("en.wikipedia.org", f"{base}&exlimit=2&exintro=1").json()
    assert ["==" in page["extract"] for page in intros["query"]["pages"]] == [False, False]
    gone = ask("en.wikipedia.org", f"/w/api.php?{WIKI}&prop=extracts&pageids=5").json()
    assert gone["query"]["pages"] == [{"pageid": 5, "missing": True}]


def test_wikipedia_serves_pages_summaries_and_refuses_other_methods(ask: Caller) -> None:
    assert "2,847 metres" in ask("en.wikipedia.org", "/wiki/Mount_Corvel?oldid=910011").text
    summary = ask("zh.wikipedia.org", "/api/rest_v1/page/summary/科维尔").json()
    assert (summary["type"], summary["lang"]) == ("disambiguation", "zh")
    assert ask("en.wikipedia.org", "/wiki/Nowhere").status_code == 404
    assert ask("en.wikipedia.org", f"/w/api.php?{WIKI}", "DELETE").status_code == 405


# --- arXiv ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        (
            "search_query=au:Solgrave",
            ["Seals and slow rotors: acoustic tracks around tidal turbines"],
        ),
        (
            'search_query=ti:"thermal runaway"',
            ["Onset of thermal runaway in phosphate and nickel-rich cells"],
        ),
        ('search_query=ti:"runaway thermal"', []),
        (
            "search_query=all:sodium AND cat:physics.app-ph ANDNOT all:withdrawn",
            ["Sodium-ion cells below freezing: a comparison with lithium iron phosphate"],
        ),
        (
            "search_query=all:tidal AND submittedDate:[202301010000 TO 202312312359]",
            ["Seals and slow rotors: acoustic tracks around tidal turbines"],
        ),
        ("id_list=2402.99005", ["Cycle life of lithium iron phosphate cells in island storage"]),
        ("id_list=1911.99001v2", ["The height of Mount Corvel from satellite positioning"]),
        ("id_list=2001.00001", []),
    ],
)
def test_arxiv_understands_its_query_language(ask: Caller, query: str, titles: list[str]) -> None:
    assert _titles(ask("export.arxiv.org", f"/api/query?{query}")) == titles


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("search_query=all:tea&rows=5", 200),
        ("", 200),
        ("search_query=all:tea&max_results=-1", 200),
        ("search_query=all:tea&sortBy=date", 200),
        ("id_list=99", 200),
        ("search_query=all:tea all:cup", 200),
        ("search_query=tea", 200),
        ("search_query=all:tea&start=29999&max_results=2", 400),
    ],
)
def test_arxiv_answers_wrong_requests_with_error_feeds(
    ask: Caller, query: str, status: int
) -> None:
    reply = ask("export.arxiv.org", f"/api/query?{query}")
    assert (reply.status_code, _titles(reply)) == (status, ["Error"])


def test_arxiv_sorts_and_pages(ask: Caller) -> None:
    base = "/api/query?search_query=all:sodium&sortBy=submittedDate&sortOrder=ascending"
    everything = _titles(ask("export.arxiv.org", base))
    assert everything[0] == "Room-temperature superfast charging of sodium cells"
    assert _titles(ask("export.arxiv.org", f"{base}&start=1&max_results=1")) == everything[1:2]
    assert ask("export.arxiv.org", base, "PUT").status_code == 405


# --- Crossref ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("q=tea", "parameter-not-allowed"),
        ("query=tea&rows=1001", "integer-not-valid"),
        ("query=tea&rows=-1", "integer-not-valid"),
        ("query=tea&offset=10001", "integer-not-valid"),
        ("query=tea&select=DOI,language", "parameter-not-allowed"),
        ("query=tea&filter=from-publication-date:2020", "filter-not-available"),
        ("query=tea&filter=from-pub-date:yesterday", "date-not-valid"),
    ],
)
def test_crossref_validates(ask: Caller, query: str, kind: str) -> None:
    reply = ask("api.crossref.org", f"/works?{query}")
    assert (reply.status_code, reply.json()["status"]) == (400, "failed")
    assert reply.json()["message"][0]["type"] == kind


def test_crossref_finds_filters_and_selects(ask: Caller) -> None:
    found = ask("api.crossref.org", "/works?query=hive+density+wild+bees&select=DOI,title").json()[
        "message"
    ]["items"]
    assert found[0] == {
        "DOI": "10.5555/bees.2021.044",
        "title": ["Hive density and wild bees in six cities"],
    }
    dated = "/works?query=wild+bees&filter=from-pub-date:2019-01,until-pub-date:2019-12-31"
    dois = [item["DOI"] for item in ask("api.crossref.org", dated).json()["message"]["items"]]
    assert dois == ["10.5555/bees.2019.009"]


def test_crossref_knows_dois(ask: Caller) -> None:
    work = ask("api.crossref.org", "/works/10.5555%2Fbees.2018.500").json()
    assert work["message-type"] == "work"
    assert work["message"]["updated-by"][0]["DOI"] == "10.5555/bees.2020.501"
    missing = ask("api.crossref.org", "/works/10.5555%2Fnone")
    assert (missing.status_code, missing.text) == (404, "Resource not found.")
    assert ask("api.crossref.org", "/works", "POST").status_code == 405


def test_crossref_has_two_pools(ask: Caller) -> None:
    assert ask("api.crossref.org", "/works?rows=1").headers["x-api-pool"] == "public"
    assert (
        ask("api.crossref.org", "/works?rows=1&mailto=a@b.example").headers["x-api-pool"]
        == "polite"
    )


# --- published rates -----------------------------------------------------------------------------------------------


def test_published_rates_are_enforced_when_asked_for(client: httpx.Client) -> None:
    clock = FixedClock(NOW_MS)
    with LoopbackWeb(clock=clock, enforce_pace=True) as web:
        call = Caller(client, web.port)
        path = "/api/query?search_query=all:tea"
        assert call("export.arxiv.org", path).status_code == 200
        clock.advance(2_999)
        refused = call("export.arxiv.org", path)
        assert (refused.status_code, refused.text) == (429, "Rate exceeded.")
        assert "retry-after" not in refused.headers
        clock.advance(1)
        assert call("export.arxiv.org", path).status_code == 200
        statuses = [call("api.crossref.org", "/works?rows=1").status_code for _ in range(6)]
        assert statuses == [200] * 5 + [429]
        clock.advance(1_000)
        assert call("api.crossref.org", "/works?rows=1").status_code == 200


def test_wikipedia_wants_requests_in_series_when_rates_are_enforced() -> None:
    with (
        LoopbackWeb(enforce_pace=True) as web,
        agent() as client,
    ):
        call = Caller(client, web.port)
        call(
            "en.wikipedia.org",
            "/__faults",
            "POST",
            json={"host": "en.wikipedia.org", "latency_s": 3},
        )
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(call, "en.wikipedia.org", "/wiki/Tea")
            wait_until(
                lambda: web.faults.active() == [], "the first is at work, and has the latency"
            )
            assert call("en.wikipedia.org", "/wiki/Tea").status_code == 429
            assert first.result().status_code == 200


# --- plain sites ---------------------------------------------------------------------------------------------------


def test_harbour_has_rules_a_sitemap_and_no_dead_links(ask: Caller) -> None:
    assert "Disallow: /private/" in ask("harbour.test", "/robots.txt").text
    sitemap = ask("harbour.test", "/sitemap.xml").text
    assert "/private/" not in sitemap
    seen, todo = set(), ["/"]
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        reply = ask("harbour.test", path)
        assert reply.status_code == 200
        todo += etree.HTML(reply.text).xpath("//a/@href")
    assert len(seen) >= 15
    assert {f"http://harbour.test{path}" for path in seen if "private" not in path} == set(
        etree.fromstring(sitemap.encode()).xpath("//*[local-name()='loc']/text()")
    )


def test_news_has_a_feed_and_dated_articles(ask: Caller) -> None:
    items = etree.fromstring(ask("news.test", "/feed.xml").content).findall("channel/item")
    days = [item.findtext("pubDate") for item in items]
    assert days[0] == "Thu, 28 May 2026 07:30:00 +0100"
    for item in items:
        path = item.findtext("link").removeprefix("http://news.test")
        page = etree.HTML(ask("news.test", path).text)
        assert json.loads(page.findtext(".//script"))["headline"] == item.findtext("title")


def test_walls_are_walls(ask: Caller) -> None:
    members = ask("forum.test", "/members/2")
    assert (members.status_code, members.headers["location"]) == (302, "/login?next=%2Fmembers%2F2")
    assert 'type="password"' in ask("forum.test", members.headers["location"]).text
    assert '"isAccessibleForFree":false' in ask("wall.test", "/article").text
    assert ask("wall.test", "/hard").status_code == 402


def test_gbk_pages_are_gbk(ask: Caller) -> None:
    reply = ask("gbk.test", "/lvcha.html")
    assert reply.headers["content-type"] == "text/html"
    assert "绿茶怎么泡才不苦" in reply.content.decode("gbk")
    with pytest.raises(UnicodeDecodeError):
        reply.content.decode("utf-8")


def test_slow_is_slow(ask: Caller, web: LoopbackWeb) -> None:
    assert ask("slow.test", "/0.2").status_code == 200
    (entry,) = web.log.entries("slow.test")
    assert 200 <= entry.t_end - entry.t_start < 2_000


@pytest.mark.parametrize(
    "host", ["harbour.test", "news.test", "forum.test", "wall.test", "gbk.test"]
)
def test_plain_sites_are_read_only(ask: Caller, host: str) -> None:
    refused = ask(host, "/", "POST")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")
    assert ask(host, "/", "HEAD").content == b""


def test_a_page_that_did_not_change_is_304(ask: Caller) -> None:
    first = ask("harbour.test", "/tides/")
    again = ask("harbour.test", "/tides/", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


# --- faults and the log --------------------------------------------------------------------------------------------


def test_every_request_is_logged_with_its_times(ask: Caller, web: LoopbackWeb) -> None:
    ask("harbour.test", "/tides/?x=1")
    ask("example.org", "/", "HEAD")
    logged = ask("news.test", "/__log").json()
    assert [(each["host"], each["method"], each["path"], each["status"]) for each in logged] == [
        ("harbour.test", "GET", "/tides/?x=1", 200),
        ("example.org", "HEAD", "/", 421),
    ]
    assert all(each["t_start"] <= each["t_end"] and each["user_agent"] == AGENT for each in logged)
    assert len(ask("news.test", "/__log?host=harbour.test").json()) == 1
    assert ask("news.test", "/__log", "DELETE").json() == []
    assert web.log.entries() == []


def _fault(ask: Caller, **fault: Any) -> None:
    assert (
        ask("news.test", "/__faults", "POST", json={"host": "harbour.test", **fault}).status_code
        == 201
    )


def test_faults_last_as_long_as_ordered_and_hit_their_host_only(ask: Caller) -> None:
    _fault(ask, status=503, retry_after=7, count=2)
    replies = [ask("harbour.test", "/") for _ in range(3)]
    assert [each.status_code for each in replies] == [503, 503, 200]
    assert [each.headers.get("retry-after") for each in replies] == ["7", "7", None]
    _fault(ask, status=429, count=None)
    assert ask("news.test", "/").status_code == 200
    assert [ask("harbour.test", "/").status_code for _ in range(3)] == [429] * 3
    assert ask("news.test", "/__faults", "DELETE").json() == []
    assert ask("harbour.test", "/").status_code == 200


def test_retry_after_may_be_a_date(ask: Caller) -> None:
    date = format_datetime(datetime(2026, 9, 21, 13, 34, tzinfo=UTC), usegmt=True)
    _fault(ask, status=429, retry_after=date)
    assert ask("harbour.test", "/").headers["retry-after"] == "Mon, 21 Sep 2026 13:34:00 GMT"


def test_bodies_can_be_wrong(ask: Caller) -> None:
    whole = ask("harbour.test", "/sitemap.xml").content
    _fault(ask, truncate=True)
    assert ask("harbour.test", "/sitemap.xml").content == whole[: len(whole) // 2]
    _fault(ask, html_error=True)
    broken = ask("harbour.test", "/sitemap.xml")
    assert (broken.status_code, broken.headers["content-type"]) == (502, "text/html; charset=utf-8")
    _fault(ask, captcha_200=True)
    challenge = ask("harbour.test", "/sitemap.xml")
    assert (challenge.status_code, "captcha" in challenge.text) == (200, True)


def test_a_reset_is_a_reset(ask: Caller, web: LoopbackWeb) -> None:
    _fault(ask, reset=True)
    with pytest.raises(httpx.ReadError, match="reset"):
        ask("harbour.test", "/")
    assert [entry.status for entry in web.log.entries()] == [0]
    assert ask("harbour.test", "/").status_code == 200


def test_latency_is_waited_for(ask: Caller, web: LoopbackWeb) -> None:
    _fault(ask, latency_s=0.2)
    ask("harbour.test", "/")
    (entry,) = web.log.entries()
    assert entry.t_end - entry.t_start >= 200


@pytest.mark.parametrize(
    "body", [b"", b"{}", b'{"host":"x","speed":1}', b'{"host":"x","latency_s":"long"}']
)
def test_a_wrong_order_is_refused(ask: Caller, web: LoopbackWeb, body: bytes) -> None:
    assert ask("news.test", "/__faults", "POST", content=body).status_code == 400
    assert web.faults.active() == []


# --- the whole -----------------------------------------------------------------------------------------------------


def _fetch(ask: Caller, request: Request) -> Reply:
    scheme_host, _, rest = request.url.partition("://")[2].partition("/")
    assert rest is not None
    reply = ask(scheme_host, f"/{rest}")
    return Reply(
        url=request.url,
        status=reply.status_code,
        content_type=reply.headers["content-type"],
        body=reply.content,
        text=reply.text,
        fetched_at_ms=NOW_MS,
    )


@pytest.mark.parametrize(
    ("source_id", "query", "title"),
    [
        ("wikipedia", SourceQuery(text="x", terms=("Mount Corvel", "height")), "Mount Corvel"),
        (
            "wikipedia",
            SourceQuery(text="绿茶怎么泡", terms=("绿茶", "水温"), language="zh"),
            "绿茶",
        ),
        ("arxiv", SourceQuery(text="x", terms=("tidal", "seals")), "Seals and slow rotors"),
        (
            "crossref",
            SourceQuery(text="bitterness of green tea"),
            "Water temperature and bitterness of green tea",
        ),
        ("crossref", SourceQuery(text="10.5555/rail.2008.003"), "Slate and steam"),
        (
            "feed:http://news.test/feed.xml",
            SourceQuery(text="x"),
            "Tidal array sets a record in May",
        ),
    ],
)
def test_our_adapters_please_the_strict_hosts(
    ask: Caller, web: LoopbackWeb, source_id: str, query: SourceQuery, title: str
) -> None:
    registry = Registry(load(sources=load().sources.model_dump() | {"mailto": "me@example.org"}))
    titles, todo = [], list(registry.source(source_id).adapter.build(query))
    while todo:
        request = todo.pop(0)
        if request.kind == "page":
            continue
        parsed = registry.parse(request, _fetch(ask, request))
        titles += [document.title for document in parsed.documents]
        todo += parsed.requests
    assert titles[0].startswith(title)
    assert {(entry.status, entry.complaint) for entry in web.log.entries()} == {(200, "")}


def test_it_runs_by_itself(tmp_path: Path, client: httpx.Client) -> None:
    log = tmp_path / "requests.jsonl"
    command = [sys.executable, "-m", "infra.loopback_web", "--port", "0", "--log", str(log)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        snippet = "".join(iter(process.stdout.readline, '"gbk.test" = "' + address[7:-1] + '"\n'))
        port = int(address.rsplit(":", 1)[1].strip("/"))
        assert Caller(client, port)("harbour.test", "/tides/").status_code == 200
        process.terminate()
        process.wait(10)
    told = tomllib.loads(snippet)["loopback"]
    assert told["only"] is True
    assert told["hosts"] == {
        name: target for name, target in hosts(port).items() if name != "gbk.test"
    }
    assert [json.loads(line)["path"] for line in log.read_text("utf-8").splitlines()] == ["/tides/"]
