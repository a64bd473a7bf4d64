"""Freshness by RFC 9111, and what makes two requests the same."""

from email.utils import formatdate

import msgspec
import pytest
from signal_search.errors import AddressRefused

from infra.settings import load
from tests.fakes.fetching import NOW_MS, a_request
from workers.fetching.cache import fingerprint, fresh_ms, host_key, origin_of, stated_life_s

LIMITS = load().cache


def date(offset_s: int) -> str:
    return formatdate(NOW_MS / 1000 + offset_s, usegmt=True)


@pytest.mark.parametrize(
    ("status", "headers", "expected_s"),
    [
        (200, {}, 600),
        (200, {"cache-control": "max-age=60"}, 60),
        (200, {"cache-control": 'public, Max-Age="60"'}, 60),
        (200, {"cache-control": "max-age=60, s-maxage=90"}, 90),
        (200, {"cache-control": "max-age=60", "age": "45"}, 15),
        (200, {"cache-control": "max-age=60", "age": "75"}, 0),
        (200, {"cache-control": "max-age=99999999"}, 86_400),
        (200, {"cache-control": "max-age=nonsense"}, 0),
        (200, {"cache-control": "no-store"}, 0),
        (200, {"cache-control": "private, max-age=60"}, 0),
        (200, {"cache-control": "no-cache"}, 0),
        (200, {"cache-control": "max-age=60", "vary": "*"}, 0),
        (200, {"cache-control": "max-age=60", "vary": "Accept-Encoding"}, 60),
        (200, {"expires": date(120), "date": date(0)}, 120),
        (200, {"expires": date(120), "date": date(-30)}, 120),
        # RFC 9111, 4.2.3: a Date half a minute old is an age, whether or not a cache says so
        (200, {"cache-control": "max-age=60", "date": date(-30)}, 30),
        (200, {"cache-control": "max-age=60", "date": date(-30), "age": "45"}, 15),
        (200, {"cache-control": "max-age=60", "date": date(30)}, 60),
        (200, {"cache-control": "max-age=60", "date": "yesterday"}, 60),
        # RFC 9111, 4.2.1: of two the first
        (200, {"cache-control": "max-age=5, max-age=3600"}, 5),
        (200, {"expires": date(120)}, 120),
        (200, {"expires": "0"}, 0),
        (200, {"expires": date(120), "cache-control": "max-age=5"}, 5),
        (200, {"last-modified": date(-1000)}, 100),
        (200, {"last-modified": date(1000)}, 0),
        (404, {}, 600),
        (301, {"cache-control": "max-age=10"}, 10),
        (302, {}, 0),
        (302, {"cache-control": "max-age=10"}, 10),
        (429, {"cache-control": "max-age=10"}, 0),
        (500, {"cache-control": "max-age=10"}, 0),
    ],
)
def test_freshness(status: int, headers: dict[str, str], expected_s: int) -> None:
    assert fresh_ms(status, headers, NOW_MS, LIMITS) == expected_s * 1000


def test_stated_life() -> None:
    assert stated_life_s({}, NOW_MS) is None
    assert stated_life_s({"cache-control": "max-age=3"}, NOW_MS) == 3.0


def test_fingerprint_is_the_same_for_the_same_page() -> None:
    plain = a_request("http://a.test/x?b=1&a=2")
    same = ["HTTP://A.test:80/x?b=1&a=2#part", "http://a.test/y/../x?b=1&a=2"]
    assert {fingerprint(a_request(each)) for each in same} == {fingerprint(plain)}


@pytest.mark.parametrize(
    "change",
    [
        {"url": "http://a.test/x?a=2&b=1"},
        {"url": "https://a.test/x?b=1&a=2"},
        {"accept_language": "de"},
        {"adapter": "arxiv"},
        {"kind": "api"},
    ],
)
def test_fingerprint_differs(change: dict[str, str]) -> None:
    """crawl4ai#638: a cached result made with other options must not be served."""
    plain = a_request("http://a.test/x?b=1&a=2")
    assert fingerprint(msgspec.structs.replace(plain, **change)) != fingerprint(plain)


def test_fingerprint_ignores_who_asks_how_deep() -> None:
    plain = a_request("http://a.test/")
    assert fingerprint(msgspec.structs.replace(plain, depth=3)) == fingerprint(plain)


@pytest.mark.parametrize(
    ("url", "host", "origin"),
    [
        ("https://EXAMPLE.com/a", "example.com", "https://example.com"),
        ("https://example.com:443/a", "example.com", "https://example.com"),
        ("http://example.com:443?x", "example.com:443", "http://example.com:443"),
        ("http://user:pw@example.com:8080/", "example.com:8080", "http://example.com:8080"),
        ("http://127.0.0.1:8000/a?b=/c@d", "127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://[2606:4700::1111]/", "[2606:4700::1111]", "http://[2606:4700::1111]"),
        ("http://Example.com./a", "example.com", "http://example.com"),
        ("http://example.com.:8080/a", "example.com:8080", "http://example.com:8080"),
    ],
)
def test_host_and_origin(url: str, host: str, origin: str) -> None:
    assert (host_key(url), origin_of(url)) == (host, origin)


def test_no_host_in_nonsense() -> None:
    with pytest.raises(AddressRefused):
        host_key("nonsense")
