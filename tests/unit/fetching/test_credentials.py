"""Where a key goes, and that nothing of it is left in a reply."""

import msgspec
import pytest
from pydantic import SecretStr
from signal_search.contracts.source import Request
from signal_search.errors import Broken

from infra.outgoing import Outgoing
from tests.fakes.fetching import a_reply, a_request
from workers.fetching.cache import fingerprint, is_shareable
from workers.fetching.credentials import outgoing, without_key

KEY = SecretStr("a+key/of=ours")
QUOTED = "a%2Bkey%2Fof%3Dours"


def keyed(place: str, **more: object) -> Request:
    asked = a_request("https://api.test/find?q=tea", "api", auth="API_KEY", auth_place=place)
    return msgspec.structs.replace(asked, **more)


@pytest.mark.parametrize(
    ("place", "url", "headers"),
    [
        (
            "bearer",
            "https://api.test/find?q=tea",
            {"accept": "x", "authorization": "Bearer a+key/of=ours"},
        ),
        (
            "header:X-Api-Key",
            "https://api.test/find?q=tea",
            {"accept": "x", "x-api-key": "a+key/of=ours"},
        ),
        ("query:api_key", f"https://api.test/find?q=tea&api_key={QUOTED}", {"accept": "x"}),
    ],
)
def test_a_key_goes_where_its_row_says(place: str, url: str, headers: dict[str, str]) -> None:
    request = keyed(place)
    sent = outgoing(request, request.url, {"accept": "x"}, KEY)
    assert (sent.url, sent.headers, sent.method, sent.body) == (url, headers, "GET", b"")


def test_a_query_is_begun_when_there_is_none() -> None:
    sent = outgoing(keyed("query:k"), "https://api.test/find", {}, SecretStr("abc"))
    assert sent.url == "https://api.test/find?k=abc"


@pytest.mark.parametrize("place", ["", "header", "header:", "cookie:k", "query:"])
def test_no_place_is_our_bug(place: str) -> None:
    with pytest.raises(Broken):
        outgoing(keyed(place), "https://api.test/", {}, KEY)


def test_a_body_is_sent_as_it_is_and_without_a_key_nothing_is_added() -> None:
    request = a_request("https://api.test/", "api", method="POST", body='{"q":"茶"}')
    sent = outgoing(request, request.url, {"accept": "x"}, SecretStr(""))
    assert (sent.method, sent.body) == ("POST", b'{"q":"\xe8\x8c\xb6"}')
    assert sent.headers == {"accept": "x"}


def test_a_key_does_not_show_in_a_representation() -> None:
    sent = Outgoing(url="https://api.test/?k=abc", headers={"x-key": "abc"}, body=b"abc")
    assert "abc" not in f"{sent!r} {sent}"


def test_a_reply_loses_the_key_wherever_it_is() -> None:
    raw = a_reply(
        b'{"api-key":"a+key/of=ours","link":"?k=a%2Bkey%2Fof%3Dours","other":"a+key/of=theirs"}',
        url=f"https://api.test/find?k={QUOTED}",
        x_echo="key a+key/of=ours",
    )
    bare = without_key(raw, "https://api.test/find", KEY)
    assert bare.url == "https://api.test/find"
    assert bare.body == b'{"api-key":"REDACTED","link":"?k=REDACTED","other":"a+key/of=theirs"}'
    assert bare.headers["x-echo"] == "key REDACTED"
    assert without_key(raw, "https://api.test/find", SecretStr("")) is raw


@pytest.mark.parametrize(
    ("location", "left"),
    [(f"/next?k={QUOTED}", ""), ("/next?k=a+key/of=ours", ""), ("/next?k=other", "/next?k=other")],
)
def test_a_redirect_with_the_key_in_it_leads_nowhere(location: str, left: str) -> None:
    raw = a_reply(status=302, location=location)
    assert without_key(raw, raw.url, KEY).headers["location"] == left


# --- who may share ----------------------------------------------------------------------------------------------------


def test_a_request_with_a_key_is_its_job_s_own() -> None:
    mine, yours = fingerprint(keyed("bearer"), "job_1"), fingerprint(keyed("bearer"), "job_2")
    assert mine != yours
    assert mine == fingerprint(keyed("bearer"), "job_1")
    plain = a_request("https://api.test/find?q=tea", "api")
    assert fingerprint(plain, "job_1") == fingerprint(plain, "job_2") == fingerprint(plain)
    assert fingerprint(plain) not in {mine, yours}
    with pytest.raises(Broken):
        fingerprint(keyed("bearer"))


@pytest.mark.parametrize(
    "change",
    [{"method": "POST"}, {"method": "POST", "body": "{}"}, {"headers": {"accept": "text/csv"}}],
)
def test_how_something_is_asked_is_a_part_of_what_is_asked(change: dict[str, object]) -> None:
    plain = a_request("https://api.test/", "api")
    other = msgspec.structs.replace(plain, **change)
    assert fingerprint(other) != fingerprint(plain)
    again = msgspec.structs.replace(plain, **change)
    assert fingerprint(other) == fingerprint(again)


def test_only_a_plain_get_may_be_shared() -> None:
    plain = a_request("https://api.test/", "api")
    assert is_shareable(plain)
    assert not is_shareable(msgspec.structs.replace(plain, method="POST"))
    assert not is_shareable(keyed("bearer"))
