"""A chat-completions endpoint for trying generation: strict about what it is asked, and wrong in every way on order.

A text `scenario:NAME` anywhere in the question, or as the name of the model, orders one of the scenarios below; without
one the answer is a good program. A question that holds an answer of the model is a request to mend it. The words it
gives are never evidence.
"""

import gzip
import re
from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec import Struct

from infra.loopback_web import exchange
from infra.loopback_web.exchange import Answer, Ask

USAGE: Final = {"prompt_tokens": 30, "completion_tokens": 11, "total_tokens": 41}
"""What every call is said to have used, unless the scenario lies about it."""

_ORDERED = re.compile(r"scenario:([a-z0-9_]+)")
_PATHS = frozenset({"/v1/chat/completions", "/chat/completions"})
_PROGRAM: Final = {
    "language": "qatlas-expr-v1",
    "filter": "coalesce(year, 0) > 2020",
    "score": "lexical",
}
_TYPE_ERROR: Final = {"language": "qatlas-expr-v1", "score": "log1p(citations)"}
_DRIP_S: Final = 0.2
_HUGE_BYTES: Final = 70_000
_LONG_CHARS: Final = 17_000
_BULKY_CHARS: Final = 12_000


class _Message(Struct):
    role: str
    content: str


class _Question(Struct):
    """What a completion must be asked with."""

    model: str
    messages: list[_Message]
    max_tokens: int
    stream: bool = False

    @property
    def mends(self) -> bool:
        return any(each.role == "assistant" for each in self.messages)

    @property
    def text(self) -> str:
        return "\n".join(each.content for each in self.messages if each.role == "user")


class Model:
    """The endpoint."""

    def __call__(self, ask: Ask) -> Answer:
        """Answer one question, or refuse it as such services do."""
        if ask.path not in _PATHS:
            return _error("no such path", status=404)
        if ask.method != "POST":
            return exchange.method_not_allowed("POST")
        if not re.fullmatch(r"Bearer \S+", ask.headers.get("authorization", "")):
            return _error("no key", status=401)
        try:
            question = msgspec.json.decode(ask.body, type=_Question)
        except msgspec.MsgspecError:
            return _error("not a question", status=400)
        ordered = _ORDERED.search(question.text) or _ORDERED.search(question.model)
        scenario = _SCENARIOS.get(ordered[1]) if ordered else _good
        return (
            _error("no such scenario", status=400) if scenario is None else scenario(ask, question)
        )


def _error(message: str, *, status: int, usage: Any = None) -> Answer:
    body: dict[str, Any] = {"error": {"message": message}}
    return exchange.json(
        body if usage is None else {**body, "usage": usage}, status=status, complaint=message
    )


def _said(content: object, usage: object = USAGE) -> Answer:
    message = {"role": "assistant", "content": content}
    body = {"object": "chat.completion", "choices": [{"index": 0, "message": message}]}
    return exchange.json(body if usage is None else {**body, "usage": usage})


def _draft(scorer: object = _PROGRAM, **changes: object) -> str:
    said = {"scorer": scorer, "summary": "Later than 2020, by lexical.", "warnings": ["Check it."]}
    return msgspec.json.encode({**said, **changes}).decode()


def _good(_ask: Ask, _question: _Question) -> Answer:
    return _said(_draft())


Scenario = Callable[[Ask, _Question], Answer]


def _always(answer: Answer) -> Scenario:
    return lambda _ask, _question: answer


def _first(text: str) -> Scenario:
    """Return a scenario whose draft is `text` and whose mended answer is good."""
    return lambda _ask, question: _said(_draft() if question.mends else text)


def _declining(status: str, message: str) -> Answer:
    return _said(msgspec.json.encode({"status": status, "message": message}).decode())


def _packed() -> Answer:
    plain = _said(_draft())
    headers = {**plain.headers, "content-encoding": "gzip"}
    return msgspec.structs.replace(plain, body=gzip.compress(plain.body), headers=headers)


def _dripping() -> Answer:
    return msgspec.structs.replace(_said(_draft()), drip_s=_DRIP_S)


def _telling_the_key(ask: Ask, _question: _Question) -> Answer:
    return _said(_draft(summary=f"You sent {ask.headers['authorization']}."))


def _telling_the_fields(ask: Ask, _question: _Question) -> Answer:
    """Say which fields the question had beside its messages, as JSON."""
    fields = msgspec.json.decode(ask.body, type=dict[str, object])
    del fields["messages"]
    return _said(_draft(summary=msgspec.json.encode(fields).decode()))


def _repeating(_ask: Ask, question: _Question) -> Answer:
    asked = msgspec.json.decode(question.messages[1].content)
    return _declining("clarification", f"What is meant by: {asked['requirements']}?")


def _judging(*said: str, each: bool = True) -> Scenario:
    """Return a scenario that gives these verdicts: for every pair of the question, or just as they are."""

    def judge(_ask: Ask, question: _Question) -> Answer:
        asked = msgspec.json.decode(question.messages[1].content)
        verdicts = [*said] * len(asked["pairs"]) if each else [*said]
        return _said(msgspec.json.encode({"verdicts": verdicts}).decode())

    return judge


_NO_USAGE: Final = _said(_draft(), None)
_SCENARIOS: Final[dict[str, Scenario]] = {
    # the transport
    "status_401": _always(_error("bad key", status=401)),
    "status_429": _always(_error("slow down", status=429)),
    "status_500": _always(_error("broken", status=500)),
    "status_500_usage": _always(_error("broken", status=500, usage=USAGE)),
    "redirect": _always(exchange.text("", status=302, location="http://model.test/elsewhere")),
    "html": _always(exchange.page("<h1>It works</h1>")),
    "gzip": _always(_packed()),
    "huge": _always(_said(" " * _HUGE_BYTES)),
    "drip": _always(_dripping()),
    # the shape
    "not_json": _always(exchange.text("oops", kind="application/json")),
    "not_utf8": _always(
        Answer(body=b'{"choices": "\xff"}', headers={"content-type": exchange.JSON})
    ),
    "wrong_shape": _always(exchange.json({"answer": "hello", "usage": USAGE})),
    "no_choices": _always(exchange.json({"choices": [], "usage": USAGE})),
    "null_content": _always(_said(None)),
    "empty_content": _always(_said("  ")),
    "parts": _always(
        _said([{"type": "text", "text": each} for each in (_draft()[:9], _draft()[9:])])
    ),
    "picture": _always(_said([{"type": "image_url", "image_url": {"url": "x"}}])),
    "long_text": _always(_said("x" * _LONG_CHARS)),
    "key": _telling_the_key,
    "fields": _telling_the_fields,
    # the draft
    "fenced": _always(_said(f"```json\n{_draft()}\n```")),
    "no_filter": _always(_said(_draft({"language": "qatlas-expr-v1", "score": "lexical"}))),
    "prose": _always(_said("Here is what you want: lexical.")),
    "prose_then_good": _first("Here is what you want: lexical."),
    "type_error": _always(_said(_draft(_TYPE_ERROR))),
    "type_error_then_good": _first(_draft(_TYPE_ERROR)),
    "extra_field": _always(_said(_draft(weights=[1, 2]))),
    "long_summary": _always(_said(_draft(summary="x" * 2001))),
    "many_warnings": _always(_said(_draft(warnings=["x"] * 9))),
    "long_warning": _always(_said(_draft(warnings=["x" * 501]))),
    "blank_warning": _always(_said(_draft(warnings=[" "]))),
    "large_program": _always(_said(_draft({**_PROGRAM, "score": " " * 4096 + "lexical"}))),
    "bulky_then_good": _first("x" * _BULKY_CHARS),
    "unsupported": _always(_declining("unsupported_requirements", "There is no such data.")),
    "clarification": _always(_declining("clarification", "Which year is meant?")),
    "repeating": _repeating,
    # verdicts on claims
    "all_true": _judging("TRUE"),
    "all_false": _judging("FALSE"),
    "odd_verdicts": _judging("PERHAPS"),
    "few_verdicts": _judging(each=False),
    # the count
    "no_usage": _always(_NO_USAGE),
    "parts_of_usage": _always(_said(_draft(), {"prompt_tokens": 30, "completion_tokens": 11})),
    "half_of_usage": _always(_said(_draft(), {"completion_tokens": 11})),
    "lying_usage": _always(_said(_draft(), {"total_tokens": 1_000_000})),
    "negative_usage": _always(_said(_draft(), {"total_tokens": -5})),
    "worded_usage": _always(_said(_draft(), {"total_tokens": "many"})),
    "odd_usage": _always(_said(_draft(), [41])),
}
SCENARIOS: Final = frozenset(_SCENARIOS)
"""The names that may be ordered."""
