"""Bodies: counted as received, looked over before parsing."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from signal_search.errors import BadEncoding, BadMediaType, Invalid, TooLarge

from api_gateway.body import check_media_type, check_text, read_body, replay


def scope(**headers: str) -> dict[str, Any]:
    named = [(key.replace("_", "-").encode(), value.encode()) for key, value in headers.items()]
    return {"headers": named}


class Wire:
    """A connection that says what it is told to, and counts how often it was asked."""

    def __init__(self, *parts: bytes, then: str = "") -> None:
        last = len(parts) - 1
        self._says: Iterator[dict[str, Any]] = iter(
            [
                {"type": "http.request", "body": part, "more_body": bool(then) or at < last}
                for at, part in enumerate(parts)
            ]
            + ([{"type": then}] if then else [])
        )
        self.asked = 0

    async def __call__(self) -> dict[str, Any]:
        self.asked += 1
        return next(self._says)


def read(wire: Wire, limit: int, **headers: str) -> bytes | None:
    return asyncio.run(read_body(scope(**headers), wire, limit=limit))


def test_a_chunked_body_is_joined():
    assert read(Wire(b"ab", b"", b"c"), 3) == b"abc"


def test_a_declared_length_over_the_limit_is_refused_unread():
    wire = Wire(b"x")
    with pytest.raises(TooLarge) as caught:
        read(wire, 10, content_length="11")
    assert wire.asked == 0
    assert (caught.value.code, caught.value.status) == ("request_too_large", 413)


def test_a_length_that_lies_does_not_help():
    wire = Wire(b"123456", b"789012", b"never")
    with pytest.raises(TooLarge):
        read(wire, 10, content_length="5")
    assert wire.asked == 2


def test_exactly_the_limit_is_allowed():
    assert read(Wire(b"12345", b"67890"), 10) == b"1234567890"


def test_a_caller_who_leaves_is_not_answered():
    assert read(Wire(b"12", then="http.disconnect"), 10) is None


@pytest.mark.parametrize(
    "given",
    ["application/json", "Application/JSON; charset=UTF-8", 'application/json;charset="utf-8"'],
)
def test_json_is_accepted(given: str):
    check_media_type(scope(content_type=given))


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"content_type": "text/plain"},
        {"content_type": "application/x-www-form-urlencoded"},
        {"content_type": "application/json; charset=gbk"},
        {"content_type": "application/json", "content_encoding": "gzip"},
    ],
)
def test_anything_else_is_not(headers: dict[str, str]):
    with pytest.raises(BadMediaType):
        check_media_type(scope(**headers))


@pytest.mark.parametrize(("body", "at"), [(b'{"a":"\xff"}', 6), (b'{"a":\x00}', 5), (b"\xc3", 0)])
def test_what_is_not_text_is_refused_with_its_place(body: bytes, at: int):
    with pytest.raises(BadEncoding) as caught:
        check_text(body, max_nesting=64)
    assert (caught.value.position, caught.value.code) == (at, "request_encoding")


def test_nesting_is_allowed_up_to_the_limit():
    check_text(b"[" * 64 + b"]" * 64, max_nesting=64)
    with pytest.raises(Invalid) as caught:
        check_text(b"[" * 65 + b"]" * 65, max_nesting=64)
    assert (caught.value.code, caught.value.position) == ("request_nesting_limit", 64)


def test_brackets_in_strings_and_side_by_side_do_not_nest():
    check_text(b'{"a": "[[[[", "b": "\\"[[[", "c": [[]], "d": [[]]}', max_nesting=3)
    with pytest.raises(Invalid):
        check_text(b'{"a": "]]]", "c": [[[]]]}', max_nesting=3)


def test_a_body_is_given_once_and_then_the_connection_speaks():
    async def both() -> tuple[Any, Any]:
        receive = replay(b"abc", Wire(b"", then="http.disconnect"))
        return await receive(), await receive()

    first, second = asyncio.run(both())
    assert first == {"type": "http.request", "body": b"abc", "more_body": False}
    assert second["type"] == "http.request"
