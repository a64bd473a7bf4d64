"""Bytes to a request: every refusal has a code, the dotted path, and nothing of what was sent."""

import unicodedata

import pytest
from signal_search.contracts.budget import Budget
from signal_search.contracts.query import Constraints, RetrieveRequest, SourcePrefs, Tier
from signal_search.errors import BadEncoding, Invalid

from api_gateway.checks import check_text
from api_gateway.decode import decode_request

SECRET = "zz9secret"


def test_a_whole_request():
    body = b"""{"query": "why is the sky blue", "depth": "deep", "budget": {"tokens": 500},
        "constraints": {"freshness": "2024-02-29..2024-03-01", "required_tier": "L1",
                        "source_prefs": {"only": ["site:https://example.org/docs", "arxiv"]}}}"""
    assert decode_request(body) == RetrieveRequest(
        query="why is the sky blue",
        depth="deep",
        budget=Budget(tokens=500),
        constraints=Constraints(
            freshness="2024-02-29..2024-03-01",
            required_tier=Tier.L1,
            source_prefs=SourcePrefs(only=("site:https://example.org/docs", "arxiv")),
        ),
    )


@pytest.mark.parametrize(
    ("body", "field", "message"),
    [
        ("{}", "query", "This field is required."),
        ('{"query": 1}', "query", "Expected `str`, got `int`."),
        ('{"query": ""}', "query", "Expected `str` of length >= 1."),
        ('{"query": "a", "budget": -1}', "budget", "Expected `int` >= 0."),
        ('{"query": "a", "budget": {"tokens": -1}}', "budget.tokens", "Expected `int` >= 0."),
        ('{"query": "a", "depth": "zz9secret"}', "depth", "This value is not accepted."),
        ('{"query": "a", "constraints": {"freshness": "zz9secret"}}', "constraints.freshness", None),
        ('{"query": "a", "constraints": {"required_tier": "zz9secret"}}', "constraints.required_tier", None),
        ('{"query": "a", "constraints": {"source_prefs": {"only": ["a", 2]}}}', "constraints.source_prefs.only[1]", "Expected `str`, got `int`."),
        ('{"query": "a", "zz9secret": 1}', None, "This object has a field that is not known."),
        ('{"query": "a", "constraints": {"zz9secret": 1}}', "constraints", "This object has a field that is not known."),
        ('{"query": "a", "zz9secret` - at `$.zz9secret": 1}', None, "This object has a field that is not known."),
        ('{"query": "a", "x` - at `$.query.zz9secret": 1}', "query", None),
        ('["zz9secret"]', None, "Expected `object`, got `array`."),
        ('{"query": "   "}', "query", "This text is blank."),
        ('{"query": "zz9secret\\u0000"}', "query", "This text contains control characters."),
        ('{"query": "zz9secret\\u0085"}', "query", "This text contains control characters."),
        ('{"query": "a", "constraints": {"domain": "zz9secret\\n"}}', "constraints.domain", None),
        ('{"query": "a", "constraints": {"freshness": "2023-02-29..2023-03-01"}}', "constraints.freshness", "This is not a date."),
        ('{"query": "a", "constraints": {"freshness": "2023-03-02..2023-03-01"}}', "constraints.freshness", "The range ends before it begins."),
        ('{"query": "a", "constraints": {"deadline_s": 0}}', "constraints.deadline_s", None),
        ('{"query": "a", "constraints": {"source_prefs": {"boost": [" "]}}}', "constraints.source_prefs.boost[0]", "This text is blank."),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(body: str, field: str | None, message: str | None):
    with pytest.raises(Invalid) as caught:
        decode_request(body.encode())
    assert caught.value.field == field
    assert (caught.value.code, caught.value.status) == ("invalid_request", 422)
    assert message is None or caught.value.message == message
    assert SECRET not in caught.value.message


@pytest.mark.parametrize(
    "address",
    [
        "site:ftp://example.org/",
        "site:example.org",
        "feed:https://",
        "feed:https://user:pass@example.org/feed",
        "site:https://user@example.org",
        "site:https://exa mple.org/",
        "site:http://example.org:99999/",
        "site:http://example.org:0/",
        "site:http://[::1/",
        "feed:javascript:alert(1)",
    ],
)
def test_a_site_or_feed_needs_a_web_address(address: str):
    body = f'{{"query": "a", "constraints": {{"source_prefs": {{"only": ["x", "{address}"]}}}}}}'
    with pytest.raises(Invalid) as caught:
        decode_request(body.encode())
    assert caught.value.field == "constraints.source_prefs.only[1]"
    assert address not in caught.value.message


@pytest.mark.parametrize(
    ("body", "position"),
    [
        (b'{"query": "a",}', 14),
        (b'{"query": "a"} x', 15),
        (b"", None),
        (b'{"query": "\\ud800"}', None),
    ],
)
def test_what_is_not_json_says_where(body: bytes, position: int | None):
    with pytest.raises(BadEncoding) as caught:
        decode_request(body)
    assert (caught.value.code, caught.value.status) == ("request_encoding", 400)
    assert caught.value.position == position


def test_line_breaks_are_allowed_in_a_query():
    assert decode_request(b'{"query": "a\\n\\tb"}').query == "a\n\tb"


def test_control_characters_are_those_of_unicode():
    for code in (*range(0x3000), 0xD7FF, 0xE000, 0x10FFFF):
        each = chr(code)
        is_control = unicodedata.category(each) == "Cc"
        assert refused(each, layout=False) == is_control
        assert refused(each, layout=True) == (is_control and each not in "\t\n\r")


def refused(character: str, *, layout: bool) -> bool:
    try:
        check_text("x", f"a{character}b", layout=layout)
    except Invalid:
        return True
    return False
