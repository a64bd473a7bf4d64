"""api.stackexchange.com: the advanced search and the answers of the 2.3 API, always packed with gzip.

Strict as the real one is: a missing or unknown site and values out of range are 400 with `bad_parameter`; unknown
parameters are passed over, which is a complaint in the log. When rates are enforced, more than thirty requests within a
second are a `throttle_violation` with the seconds in a sentence, and every tenth reply carries a `backoff`.
"""

import gzip
import html
import re
import tomllib
from functools import lru_cache

import msgspec
from msgspec import Struct

from infra.loopback_web import exchange
from infra.loopback_web.corpus import FOLDER
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.library import Pace
from infra.loopback_web.search import Index

_KNOWN = {"q", "site", "page", "pagesize", "order", "sort", "fromdate", "todate", "tagged"}
_KNOWN |= {"accepted", "filter", "key", "title", "body", "answers"}
_SORTS = {
    "search": {"activity", "votes", "creation", "relevance"},
    "answers": {"activity", "votes", "creation"},
}
_FILTERS = {"default", "withbody", "none", "total"}
_MAX_PAGE_SIZE = 100
_PER_SECOND, _SECOND_MS = 30, 1000
_QUOTA = 300
_BACKOFF_EVERY, _BACKOFF_S = 10, 10
_ANSWERS = re.compile(r"/2\.3/questions/(\d+(?:;\d+){0,99})/answers")


class Reply(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An answer; times are Unix seconds, the body is HTML."""

    id: int
    body: str
    answered: int
    score: int
    owner: str
    accepted: bool = False


class Question(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question with its answers; the title is plain text, the body HTML."""

    id: int
    title: str
    body: str
    asked: int
    score: int
    owner: str
    tags: list[str] = []
    answer: list[Reply] = []


@lru_cache(maxsize=1)
def questions() -> tuple[Question, ...]:
    """Return all questions."""
    rows = tomllib.loads((FOLDER / "stackexchange.toml").read_text("utf-8"))["question"]
    return msgspec.convert(rows, tuple[Question, ...])


class StackExchange:
    """One site of the network: stackoverflow."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        """Index titles and bodies."""
        self._index = Index(
            [(each.title, re.sub("<[^>]*>", " ", each.body)) for each in questions()]
        )
        self._pace = Pace(_PER_SECOND, _SECOND_MS, enforced=enforce_pace)
        self._enforce_pace = enforce_pace
        self._answered = 0

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return _packed(exchange.method_not_allowed("GET", "HEAD"))
        if self._pace.refuses(ask.now_ms):
            sentence = "too many requests from this IP, more requests available in 73 seconds"
            return _packed(_error(502, "throttle_violation", sentence))
        return _packed(self._route(ask))

    def _route(self, ask: Ask) -> Answer:
        answers = _ANSWERS.fullmatch(ask.path)
        if not answers and ask.path != "/2.3/search/advanced":
            return _error(404, "no_method", "this method cannot be called")
        fields = ask.fields
        wrong = _wrong(fields, "answers" if answers else "search")
        if wrong:
            return _error(400, "bad_parameter", wrong)
        items = _replies(answers[1].split(";"), fields) if answers else self._search(fields)
        return self._wrapped(items, fields)

    def _wrapped(self, items: list[dict[str, object]], fields: dict[str, str]) -> Answer:
        self._answered += 1
        size, page = int(fields.get("pagesize", "30")), int(fields.get("page", "1"))
        start = (page - 1) * size
        body: dict[str, object] = {
            "items": items[start : start + size],
            "has_more": start + size < len(items),
            "quota_max": _QUOTA,
            "quota_remaining": max(0, _QUOTA - self._answered) if self._enforce_pace else _QUOTA,
        }
        if self._enforce_pace and self._answered % _BACKOFF_EVERY == 0:
            body["backoff"] = _BACKOFF_S
        unknown = ", ".join(sorted(fields.keys() - _KNOWN))
        return exchange.json(body, complaint=f"passed over: {unknown}" if unknown else "")

    def _search(self, fields: dict[str, str]) -> list[dict[str, object]]:
        words = fields.get("q", "")
        ranked = self._index.rank(words, share=1.0) if words else range(len(questions()))
        found = [questions()[number] for number in ranked]
        first, last = int(fields.get("fromdate", "0")), int(fields.get("todate", "9999999999"))
        with_body = fields.get("filter") == "withbody"
        return [
            _question(each, with_body=with_body) for each in found if first <= each.asked <= last
        ]


def _wrong(fields: dict[str, str], method: str) -> str:
    if "site" not in fields:
        return "site is required"
    if fields["site"] != "stackoverflow":
        return "No site found for name"
    for name, most in (("pagesize", _MAX_PAGE_SIZE), ("page", 25)):
        value = fields.get(name, "1")
        if not value.isdecimal() or not 1 <= int(value) <= most:
            return name
    orders = {"sort": _SORTS[method], "order": {"desc", "asc"}}
    for name, allowed in orders.items():
        if fields.get(name, min(allowed)) not in allowed:
            return name
    times = (fields.get(name, "0") for name in ("fromdate", "todate"))
    if fields.get("filter", "default") not in _FILTERS or not all(map(str.isdecimal, times)):
        return "filter, fromdate or todate"
    needed = method == "answers" or any(
        fields.get(name) for name in ("q", "title", "body", "tagged")
    )
    return "" if needed else "one of q, title, body, tagged must be set"


def _question(question: Question, *, with_body: bool) -> dict[str, object]:
    accepted = next((each.id for each in question.answer if each.accepted), None)
    return {
        "question_id": question.id,
        "title": html.escape(question.title),
        "link": f"https://stackoverflow.com/questions/{question.id}/x",
        "is_answered": bool(question.answer),
        **({"accepted_answer_id": accepted} if accepted else {}),
        "answer_count": len(question.answer),
        "score": question.score,
        "view_count": question.score * 100,
        "creation_date": question.asked,
        "tags": question.tags,
        "owner": {"display_name": html.escape(question.owner), "reputation": 1},
        **({"body": question.body} if with_body else {}),
    }


def _replies(ids: list[str], fields: dict[str, str]) -> list[dict[str, object]]:
    found = [
        (question.id, reply)
        for question in questions()
        if str(question.id) in ids
        for reply in question.answer
    ]
    with_body = fields.get("filter") == "withbody"
    ranked = sorted(found, key=lambda pair: -pair[1].score)
    return [_reply(number, reply, with_body=with_body) for number, reply in ranked]


def _reply(question_id: int, reply: Reply, *, with_body: bool) -> dict[str, object]:
    return {
        "answer_id": reply.id,
        "question_id": question_id,
        "is_accepted": reply.accepted,
        "score": reply.score,
        "creation_date": reply.answered,
        "owner": {"display_name": html.escape(reply.owner), "reputation": 1},
        **({"body": reply.body} if with_body else {}),
    }


def _error(number: int, name: str, message: str) -> Answer:
    body = {"error_id": number, "error_name": name, "error_message": message}
    return exchange.json(body, status=400, complaint=name)


def _packed(answer: Answer) -> Answer:
    headers = {**answer.headers, "content-encoding": "gzip"}
    return msgspec.structs.replace(
        answer, body=gzip.compress(answer.body, mtime=0), headers=headers
    )
