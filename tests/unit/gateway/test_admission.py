"""The outer layers by themselves: what reaches the application, and what a slow or absent caller gets."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from api_gateway.admission import Admission, Limits
from api_gateway.asgi import Message, Receive, Scope, Send
from api_gateway.auth import Gate


class Inside:
    """The application: notes what it gets and answers 204."""

    def __init__(self) -> None:
        self.scopes: list[Scope] = []
        self.bodies: list[bytes] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)
        if scope["type"] == "http":
            self.bodies.append((await receive())["body"])
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body", "body": b""})


def call(
    folder: Path, receive: Receive, method: str = "POST", *, body_s: float = 40, **more: Any
) -> tuple[Inside, list[Message]]:
    inside, sent = Inside(), list[Message]()
    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
    scope = {
        "type": "http",
        "method": method,
        "path": "/v1/x",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        **more,
    }

    async def send(message: Message) -> None:
        sent.append(message)

    limits = Limits(body_bytes=10, nesting=4, body_s=body_s)
    asyncio.run(Admission(inside, Gate(folder / "none.json"), limits)(scope, receive, send))
    return inside, sent


async def one_body() -> Message:
    return {"type": "http.request", "body": b"{}", "more_body": False}


async def never() -> Message:
    await asyncio.Event().wait()
    raise AssertionError


async def gone() -> Message:
    return {"type": "http.disconnect"}


def test_the_caller_the_id_and_the_body_are_handed_on(tmp_path: Path):
    inside, sent = call(tmp_path, one_body)
    [scope] = inside.scopes
    assert inside.bodies == [b"{}"]
    assert scope["state"]["principal"].tenant == "local"
    assert (b"x-request-id", scope["state"]["request_id"].encode()) in sent[0]["headers"]


def test_a_body_that_does_not_come_is_not_waited_for_for_ever(tmp_path: Path):
    inside, sent = call(tmp_path, never, body_s=0.01)
    assert inside.scopes == []
    assert sent[0]["status"] == 400
    assert msgspec.json.decode(sent[1]["body"])["detail"]["code"] == "request_encoding"


def test_a_caller_who_left_is_not_answered(tmp_path: Path):
    inside, sent = call(tmp_path, gone)
    assert (inside.scopes, sent) == ([], [])


def test_a_head_is_a_get_within(tmp_path: Path):
    inside, _sent = call(tmp_path, one_body, "HEAD")
    assert inside.scopes[0]["method"] == "GET"
    assert inside.scopes[0]["state"]["is_head"] is True


def test_a_get_does_not_wait_for_a_body(tmp_path: Path):
    inside, sent = call(tmp_path, never, "GET")
    assert inside.bodies == [b""]
    assert sent[0]["status"] == 204


def test_a_web_socket_is_closed_before_it_opens(tmp_path: Path):
    inside, sent = call(tmp_path, never, type="websocket")
    assert (inside.scopes, sent) == ([], [{"type": "websocket.close", "code": 1008}])


def test_what_is_not_http_goes_on(tmp_path: Path):
    inside, _sent = call(tmp_path, never, type="lifespan")
    assert inside.scopes[0]["type"] == "lifespan"
