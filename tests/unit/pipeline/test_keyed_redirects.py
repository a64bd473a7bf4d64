"""A redirect of a request with a key or a body: what goes on to the next hop, and what stays behind."""

import pytest
from msgspec.structs import replace
from signal_search.contracts.source import Request

from infra.settings import load
from tests.fakes.builders import a_log, finished, queued, started
from workers.pipeline.follow_ups import follow_ups
from workers.pipeline.rules import snapshot
from workers.pipeline.state import fold

ASKED = "https://api.example.org/search"


def hop_of(status: int, to: str) -> Request:
    asked = queued("q1.one#1", ASKED, kind="api")
    keyed = replace(
        asked.request,
        method="POST",
        body="{}",
        headers={"content-type": "application/json"},
        auth="API_KEY",
        auth_place="header:x-key",
    )
    log = a_log(
        started("q1.one", 1),
        replace(asked, request=keyed),
        finished("q1.one#1", state="redirected", status=status, redirect_to=to),
    )
    [hop] = follow_ups(fold(log), snapshot(load()))
    assert hop.request.url == to
    return hop.request


@pytest.mark.parametrize(
    ("to", "kept"),
    [
        ("https://api.example.org/v2/search", True),
        ("https://api.example.org:443/v2", True),
        ("https://API.example.org/v2", True),
        ("http://api.example.org/search", False),
        ("https://api.example.org:8443/search", False),
        ("https://www.example.org/search", False),
        ("https://api.example.org.evil.test/search", False),
    ],
)
def test_a_key_and_its_headers_stay_with_the_origin(to: str, kept: bool) -> None:
    """CVE-2018-18074 (requests): an Authorization header that followed a redirect from https to http."""
    hop = hop_of(307, to)
    assert hop.auth == ("API_KEY" if kept else "")
    assert bool(hop.headers) == kept


@pytest.mark.parametrize(
    ("status", "method"), [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")]
)
def test_a_post_goes_on_as_the_status_says(status: int, method: str) -> None:
    """RFC 9110, 15.4.2 to 15.4.9."""
    hop = hop_of(status, "https://api.example.org/v2/search")
    assert (hop.method, hop.body) == (method, "{}" if method == "POST" else "")
    assert hop.auth == "API_KEY"
