"""The URL guard against every spelling of a private address (SSRF_FILE): not one connection may leave.

The real fetcher and client run; between guard and socket every endpoint the guard names is recorded, and the connection
is turned to a local server that plays the public redirector. So nothing leaves the machine, and what would have is known.
"""

import asyncio
import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from signal_search.contracts.source import FetchState, SkipReason
from signal_search.errors import AddressRefused, Unreachable

from infra.clock import FixedClock
from infra.http import Endpoint, HttpClient
from infra.settings import load
from tests.fakes.fetching import NOW_MS, a_request
from tests.fakes.web import Answer, Seen, Web, redirect, running_web, text
from workers.fetching.fetcher import Fetched, Fetcher, Finished
from workers.fetching.url_guard import UrlGuard, is_public

ROOT = Path(__file__).parents[2]
FILE = Path(os.environ.get("SSRF_FILE", ROOT / "../shared/data/ssrf/cases.json"))
DATA: dict[str, Any] = json.loads(FILE.read_text()) if FILE.exists() else {"cases": [], "dns": {}}
CASES = [pytest.param(case, id=case["name"]) for case in DATA["cases"]]
Table = dict[str, list[list[str]]]


class FakeResolver:
    """Answers from a table: each look-up of a name with its next answer, the last one for ever."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.asked: Counter[str] = Counter()

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        answers = self._table.get(host)
        if answers is None:
            raise Unreachable
        at = min(self.asked[host], len(answers) - 1)
        self.asked[host] += 1
        return answers[at]


class Crawl:
    """Follows a URL hop by hop and records where every connection would have gone."""

    def __init__(self, web: Web, table: Table) -> None:
        self.settings = load(fetch={"clients": 1})
        self.resolver = FakeResolver(table)
        self.guard = UrlGuard(self.settings.fetch.ports, self.settings.loopback, self.resolver)
        self.connections: list[Endpoint] = []
        self._here = (Endpoint("127.0.0.1", web.port),)

    async def _endpoints(self, host: str, port: int) -> tuple[Endpoint, ...]:
        self.connections += await self.guard.endpoints(host, port)
        return self._here

    async def _follow(self, url: str) -> bool:
        """Follow redirects; say whether the last address was connected to. What the server then says is not the point."""
        clock = FixedClock(NOW_MS)
        fetch, loopback = self.settings.fetch, self.settings.loopback
        async with HttpClient(fetch, loopback, self._endpoints, clock) as client:
            fetcher = Fetcher(self.settings, client, self.guard, clock)
            for _ in range(fetch.max_redirects):
                before = len(self.connections)
                exchange = await fetcher.fetch(a_request(url, "api"), None)
                if isinstance(exchange, Fetched):
                    return True
                assert isinstance(exchange, Finished)
                if exchange.outcome.state != FetchState.REDIRECTED:
                    refused = (
                        exchange.outcome.reason == SkipReason.ADDRESS
                    )  # perhaps where it leads to
                    return len(self.connections) > before and not refused
                url = exchange.outcome.parsed.redirect_to
        return False

    def arrives(self, url: str) -> bool:
        return asyncio.run(self._follow(url))

    @property
    def leaks(self) -> list[Endpoint]:
        return [each for each in self.connections if not is_public(each.address)]


def _redirector(seen: Seen) -> Answer:
    return redirect(parse_qs(urlsplit(seen.target).query)["to"][0])


@pytest.fixture(scope="module")
def web() -> Any:
    with running_web() as server:
        server.route("/", text("public"))
        server.route("/redir", _redirector)
        yield server


@pytest.mark.skipif(not FILE.exists(), reason="no case file: set SSRF_FILE")
@pytest.mark.parametrize("case", CASES or [pytest.param({}, id="absent")])
def test_case(web: Web, case: dict[str, str]) -> None:
    crawl = Crawl(web, DATA["dns"])
    arrived = crawl.arrives(case["url"])
    assert crawl.leaks == []
    rebinds = any(len(DATA["dns"].get(host, [])) > 1 for host in crawl.resolver.asked)
    if not rebinds:  # a name that changes its mind may be public while it is asked
        assert arrived == (case["expect"] == "allowed")


def test_one_look_up_per_connection_and_the_checked_address_is_used(web: Web) -> None:
    """DNS re-binding: the first answer is public, every later one private."""
    table = {"rebind.test": [["93.184.216.34"], ["127.0.0.1"]]}
    crawl = Crawl(web, table)
    assert crawl.arrives("http://rebind.test/")
    assert crawl.connections == [Endpoint("93.184.216.34", 80)]
    assert crawl.resolver.asked == {"rebind.test": 1}
    assert not crawl.arrives("http://rebind.test/")
    assert crawl.leaks == []


def test_redirect_to_a_rebound_name_is_refused(web: Web) -> None:
    table = {"public.test": [["93.184.216.34"]], "rebind.test": [["127.0.0.1"]]}
    crawl = Crawl(web, table)
    assert not crawl.arrives("http://public.test/redir?to=http://rebind.test/")
    assert crawl.connections == [Endpoint("93.184.216.34", 80)]


# The list of the public collections, in the short form; none of these may even be looked up.
REFUSED = """
http://127.0.0.1/ http://127.127.127.127/ http://localhost/ http://localhost./ http://LOCALHOST/ http://0.0.0.0/ http://0/
http://127.1/ http://127.0.1/ http://2130706433/ http://2852039166/ http://0x7f000001/ http://0x7f.0x0.0x0.0x1/
http://0177.0.0.1/ http://00000177.0.0.1/ http://0251.0376.0251.0376/ http://0x7f.1/ http://4294967295/
http://１２７.０.０.１/ http://①②⑦.⓪.⓪.①/ http://127。0。0。1/ http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/ http://%31%32%37.0.0.1/ http://%6cocalhost/
http://[::1]/ http://[::]/ http://[::ffff:127.0.0.1]/ http://[::ffff:7f00:1]/ http://[0:0:0:0:0:ffff:127.0.0.1]/
http://[::127.0.0.1]/ http://[64:ff9b::127.0.0.1]/ http://[2002:7f00:1::]/ http://[fe80::1%25lo]/ http://[fd00:ec2::254]/
http://[::ffff:169.254.169.254]/ http://169.254.169.254/ http://100.100.100.200/ http://168.63.129.16/ http://192.0.0.192/
http://a.test@127.0.0.1/ http://127.0.0.1@a.test/ http://a.test\\@127.0.0.1/ http://a.test#@127.0.0.1:80:80/ http:///127.0.0.1/
http:127.0.0.1 http:a.test //a.test/ http://a.test:6379/ http://a.test:+80/ http://a.test:/ http://a.test:80:80/
file:///etc/passwd gopher://a.test/ dict://a.test/ ftp://a.test/ data:text/html,x http+unix://a.test/ ldap://a.test/
jar:http://a.test!/ javascript:alert(1) http://intranet/ http://[2001:470::5efe:7f00:1]/ http://[3fff::1]/ http://[2001::1]/
http://[5f00::1]/ http://[fec0::1]/ http://[ff02::1]/ http://224.0.0.1/ http://255.255.255.255/ http://198.18.0.1/
"""


@pytest.mark.parametrize(
    "url", [*REFUSED.split(), "http://a.test\t/", "http://a .test/", "http://a.test\n/", ""]
)
def test_spelling_is_refused_without_a_look_up(url: str) -> None:
    settings = load()
    resolver = FakeResolver({})
    guard = UrlGuard(settings.fetch.ports, settings.loopback, resolver)
    with pytest.raises(AddressRefused):
        asyncio.run(guard.check(url))
    assert not resolver.asked


@pytest.mark.parametrize(
    "address",
    [
        "0.1.2.3",
        "10.0.0.5",
        "100.64.0.1",
        "172.31.255.255",
        "192.0.2.1",
        "192.88.99.1",
        "198.51.100.9",
        "203.0.113.1",
        "240.0.0.1",
        "::7f00:1",
        "64:ff9b:1::7f00:1",
        "2001:db8::1",
        "2620:4f:8000::1",
        "fe80::1%eth0",
        "2001:0:4136:e378:8000:63bf:80ff:fffe",
        "2002:7f00:1::",
        "not an address",
        "127.1",
    ],
)
def test_special_addresses_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111"]
)
def test_public_addresses_are(address: str) -> None:
    assert is_public(address)


def test_every_answer_must_pass() -> None:
    settings = load()
    table = {
        "mixed.test": [["93.184.216.34", "127.0.0.1"]],
        "two.test": [["93.184.216.34", "8.8.8.8"]],
    }
    guard = UrlGuard(settings.fetch.ports, settings.loopback, FakeResolver(table))
    with pytest.raises(AddressRefused):
        asyncio.run(guard.check("https://mixed.test/"))
    found = asyncio.run(guard.check("https://two.test/"))
    assert found == (Endpoint("93.184.216.34", 443), Endpoint("8.8.8.8", 443))


def test_only_listed_loopback() -> None:
    hosts = {"export.arxiv.org": "127.0.0.1:8601"}
    settings = load(
        loopback={"allow": ["127.0.0.1:8000", "localhost:8001"], "only": True, "hosts": hosts}
    )
    guard = UrlGuard(
        settings.fetch.ports, settings.loopback, FakeResolver({"a.test": [["8.8.8.8"]]})
    )

    def endpoints(url: str) -> tuple[Endpoint, ...]:
        return asyncio.run(guard.check(url))

    assert endpoints("http://127.0.0.1:8000/x") == (Endpoint("127.0.0.1", 8000),)
    assert endpoints("http://localhost:8001/") == (Endpoint("127.0.0.1", 8001),)
    assert endpoints("https://EXPORT.arxiv.org/api") == (Endpoint("127.0.0.1", 8601),)
    for url in (
        "http://127.0.0.1:8001/",
        "http://127.0.0.1:8601/",
        "http://a.test/",
        "http://8.8.8.8/",
    ):
        with pytest.raises(AddressRefused):
            endpoints(url)
    with pytest.raises(AddressRefused):
        asyncio.run(guard.endpoints("a.test", 80))
