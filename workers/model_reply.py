"""What a model said, whichever way its API writes it: a response, a chat completion, or the events of either. Pure.

Some gateways stream although they were asked not to; the pieces are joined then.
"""

import msgspec
from msgspec import Struct
from signal_search.contracts.source import Reply

from workers.records import read_json, readable, refuse_error

_MOST_EVENTS = 20_000


class Said(Struct, frozen=True, kw_only=True):
    """The words of an answer, and the addresses that it cites apart from them."""

    text: str = ""
    cited: tuple[str, ...] = ()


class _Citation(Struct):
    type: str = ""
    url: str = ""


class _Part(Struct):
    type: str = ""
    text: str = ""
    annotations: list[_Citation] = []


class _Item(Struct):
    """What the model did or said; only messages have content."""

    type: str = ""
    content: list[object] | None = None


class _Message(Struct):
    content: str | list[object] | None = None


class _Choice(Struct):
    message: _Message | None = None
    delta: _Message | None = None


class _Body(Struct):
    output: list[object] | None = None
    choices: list[_Choice] | None = None
    citations: list[object] | None = None
    error: object = None
    type: str = ""
    delta: object = None
    response: object = None


def read_said(reply: Reply) -> Said:
    """Return what a model said.

    Raises:
        BadReply: HTML, truncated or wrong-shaped JSON, an error sent with 200, no answer at all.
    """
    if reply.body.lstrip().startswith((b"data:", b"event:")):
        return _read_events(reply)
    body = read_json(reply, _Body)
    said = _said(body)
    if body.error is not None or said is None:
        refuse_error(reply, body.error)
    return said


def _said(body: _Body) -> Said | None:
    """Return what one body says, None when it is no answer."""
    if body.output is not None:
        return _response(body.output)
    if body.choices:
        messages = (each.message or each.delta or _Message() for each in body.choices[:1])
        cited = tuple(each for each in body.citations or () if isinstance(each, str))
        return Said(text="".join(_text(each.content) for each in messages), cited=cited)
    return None


def _response(output: list[object]) -> Said:
    said = [each.content or [] for each in readable(output, _Item) if each.type == "message"]
    parts = [part for content in said for part in readable(content, _Part)]
    spoken = [part for part in parts if part.type == "output_text"]
    cited = (each.url for part in spoken for each in part.annotations if each.url)
    return Said(text="".join(part.text for part in spoken), cited=tuple(dict.fromkeys(cited)))


def _text(content: str | list[object] | None) -> str:
    if isinstance(content, list):
        return "".join(part.text for part in readable(content, _Part))
    return content or ""


def _read_events(reply: Reply) -> Said:
    """Join the pieces of a stream; the whole response, which some streams end with, counts for more."""
    pieces: list[str] = []
    cited: dict[str, None] = {}
    whole: Said | None = None
    for body in _events(reply):
        if body.error is not None:
            refuse_error(reply, body.error)
        said = _said(body)
        if said is not None:
            pieces.append(said.text)
            cited |= dict.fromkeys(said.cited)
        elif body.type == "response.output_text.delta" and isinstance(body.delta, str):
            pieces.append(body.delta)
        elif body.type == "response.completed":
            whole = next((_said(each) for each in readable([body.response], _Body)), None)
    return whole or Said(text="".join(pieces), cited=tuple(cited))


def _events(reply: Reply) -> list[_Body]:
    lines = reply.body.decode("utf-8", "replace").splitlines()[:_MOST_EVENTS]
    data = (each.removeprefix("data:").strip() for each in lines if each.startswith("data:"))
    return readable([_decoded(each) for each in data if each and each != "[DONE]"], _Body)


def _decoded(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return None
