"""A judge that speaks the typed protocol, for trying adaptive searches: strict about requests, wrong in ways on order.

Without an order it finds everything worth reading and every keyword satisfied. The model's name orders something else:
`scenario:NAME` is one of the scenarios below, for all requests of a job or, as `scenario:NAME@PHASE`, for those of one
phase (plan, src, kw). Answers are made from the questions alone; nothing it says is evidence.
"""

import re
from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec import Struct

from infra.loopback_web import exchange
from infra.loopback_web.exchange import Answer, Ask

_PATHS = frozenset({"/v1/systemone", "/systemone"})
_ORDERED = re.compile(r"scenario:([a-z0-9_]+)(?:@(plan|src|kw))?")
_MOST_CHARS: Final = 60_000
_HUGE_BYTES: Final = 4_300_000
_SURE: Final = 0.9
_LOW: Final = 0.02
_DRIP_S: Final = 0.2
Sheet = dict[str, Any]


class _Question(Struct, forbid_unknown_fields=True):
    type: str
    instructions: str
    criteria: dict[str, str]


class _Request(Struct, forbid_unknown_fields=True):
    state: dict[str, Any]
    model: str
    questions: dict[str, _Question]

    @property
    def phase(self) -> str:
        """Return plan, src or kw, by the first question."""
        head = next(iter(self.questions), "").split(".", 1)[0]
        return "plan" if head == "query" else head


class Judge:
    """The endpoint."""

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request, or refuse it as such services do."""
        refusal = _refusal(ask)
        if refusal is not None:
            return refusal
        try:
            request = msgspec.json.decode(ask.body, type=_Request)
        except msgspec.MsgspecError:
            return _error("not a question sheet", status=422)
        complaint = _complaint(ask.body, request)
        return _error(complaint, status=422) if complaint else self._judged(request)

    def _judged(self, request: _Request) -> Answer:
        ordered = _ORDERED.search(request.model)
        if ordered is None or ordered[2] not in {None, request.phase}:
            return _told(request, _answers(request))
        scenario = _SCENARIOS.get(ordered[1])
        return _error("no such scenario", status=400) if scenario is None else scenario(request)


def _refusal(ask: Ask) -> Answer | None:
    if ask.path not in _PATHS:
        return _error("no such path", status=404)
    if ask.method != "POST":
        return exchange.method_not_allowed("POST")
    if not re.fullmatch(r"Bearer \S+", ask.headers.get("authorization", "")):
        return _error("no key", status=401)
    return None


def _complaint(body: bytes, request: _Request) -> str:
    """Return what is wrong with a request, "" when nothing is."""
    if len(body.decode("utf-8", "replace")) > _MOST_CHARS:
        return "more than 60,000 characters"
    for each in request.questions.values():
        if each.type == "noul" and set(each.criteria) != {"true", "false"}:
            return "a noul has criteria for true and false"
        if each.type == "choice" and len(each.criteria) < 2:
            return "a choice has two options at least"
        if each.type not in {"noul", "choice"}:
            return "no such type"
    return "" if request.questions else "nothing is asked"


def _error(message: str, *, status: int) -> Answer:
    body = {"error": {"code": "refused", "message": message}}
    return exchange.json(body, status=status, complaint=message)


def _told(request: _Request, answers: Sheet) -> Answer:
    usage = {"input_tokens": 1000 + 10 * len(request.questions)}
    return exchange.json({"model": request.model, "answers": answers, "usage": usage})


def _answers(request: _Request) -> Sheet:
    return {name: _answer(name, each) for name, each in request.questions.items()}


def _answer(name: str, question: _Question) -> Sheet:
    if question.type == "noul":
        return {"type": "noul", "noul": _LOW if name.endswith(".injection") else _SURE}
    options = list(question.criteria)
    chosen = "satisfied" if "satisfied" in options else options[0]
    return {"type": "choice", "choice": chosen, "confidence": _SURE}


# --- scenarios --------------------------------------------------------------------------------------------------------

Scenario = Callable[[_Request], Answer]


def _always(answer: Answer) -> Scenario:
    return lambda _request: answer


def _changed(change: Callable[[str, Sheet], object]) -> Scenario:
    """Return a scenario whose answers are changed one by one; None leaves one out."""

    def scenario(request: _Request) -> Answer:
        made = {name: change(name, each) for name, each in _answers(request).items()}
        return _told(request, {name: each for name, each in made.items() if each is not None})

    return scenario


def _with_value(value: object) -> Scenario:
    return _changed(lambda _name, each: {**each, "noul": value} if each["type"] == "noul" else each)


def _choosing(option: str) -> Scenario:
    def change(name: str, each: Sheet) -> Sheet:
        return {**each, "choice": option} if name.startswith("kw.") else each

    return _changed(change)


def _without(field: str) -> Scenario:
    return _changed(lambda name, each: None if name.endswith(field) else each)


def _strange(request: _Request) -> Answer:
    extra = {"src.e999.relevance": {"type": "noul", "noul": 1.0}}
    return _told(request, {**_answers(request), **extra})


def _dripping(request: _Request) -> Answer:
    return msgspec.structs.replace(_told(request, _answers(request)), drip_s=_DRIP_S)


def _status(status: int, **headers: str) -> Scenario:
    answer = _error("on order", status=status)
    return _always(msgspec.structs.replace(answer, headers={**answer.headers, **headers}))


_SCENARIOS: Final[dict[str, Scenario]] = {
    # the transport
    "status_401": _status(401),
    "status_403": _status(403),
    "status_422": _status(422),
    "status_429": _status(429, **{"retry-after": "2"}),
    "status_500": _status(500),
    "status_503": _status(503),
    "status_529": _status(529),
    "redirect": _always(exchange.text("", status=302, location="http://judge.test/elsewhere")),
    "html": _always(exchange.page("<h1>It works</h1>")),
    "html_502": _always(msgspec.structs.replace(exchange.page("<h1>Bad gateway</h1>"), status=502)),
    "not_json": _always(exchange.text("oops", kind="application/json")),
    "wrong_shape": _always(exchange.json({"result": []})),
    "huge": _always(exchange.json({"answers": {}, "padding": " " * _HUGE_BYTES})),
    "drip": _dripping,
    # the answers
    "text_values": _with_value("0.9"),
    "true_values": _with_value(True),  # noqa: FBT003 - the value is the fault
    "above_one": _with_value(1.2),
    "below_zero": _with_value(-0.1),
    "null_values": _with_value(None),
    "wrong_type": _changed(lambda _name, each: {**each, "type": "text"}),
    "not_offered": _changed(lambda _n, e: {**e, "choice": "maybe"} if e["type"] == "choice" else e),
    "odd_confidence": _changed(
        lambda _n, e: {**e, "confidence": 7} if e["type"] == "choice" else e
    ),
    "unsure": _changed(lambda _n, e: {**e, "confidence": 0.4} if e["type"] == "choice" else e),
    "missing": _changed(lambda _name, _each: None),
    "no_reading_value": _without(".reading_value"),
    "no_match": _without(".match"),
    "no_kind": _without(".kind"),
    "strange_ids": _strange,
    "steering": _changed(lambda n, e: {**e, "noul": 0.95} if n.endswith(".injection") else e),
    "continue": _choosing("continue"),
    "exhausted": _choosing("exhausted"),
}
SCENARIOS: Final = frozenset(_SCENARIOS)
"""The names that may be ordered."""
