"""Tavily by its search API: excerpts of pages for a question, for a key.

Its own answer is a model's: it is asked for only where a search wants one, and is no evidence. Dates are asked for as a
range; `days` beside it would be an error.
"""

import re
from typing import Any, Final

from msgspec import Struct
from signal_search.contracts.hit import Hit
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import SourceConfig
from workers.asking import post
from workers.hits import evidence, hits_among, question_of, with_answer
from workers.records import days_of, read_json, refuse_error, size_of

_MAX_CHARS: Final = 400
_MAX_RESULTS: Final = 20
_RELATIVE: Final = {"pd": "day", "pw": "week", "pm": "month", "py": "year"}
_GAP = re.compile(r"\s*\[\.\.\.\]\s*")
_MEANINGS: Final = {
    401: "the key is missing or not valid",
    432: "the plan's limit is used up",
    433: "the pay-as-you-go limit is used up",
}


class _Result(Struct):
    url: str
    title: str | None = None
    content: str | None = None
    published_date: str | None = None


class _Body(Struct):
    results: list[object] | None = None
    answer: str | None = None
    error: object = None
    detail: object = None


class Tavily:
    """Excerpts of pages of the open web."""

    name: str = "tavily"
    pushes_down: frozenset[str] = frozenset({"freshness"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one search. Only news come with their dates."""
        body: dict[str, Any] = {
            "query": question_of(ask, chars=_MAX_CHARS),
            "search_depth": "basic",
            "max_results": size_of(ask, _MAX_RESULTS),
            "include_answer": ask.with_answer,
            **({"topic": "news"} if ask.about_news else {}),
            **_dates(ask.freshness),
            **self._config.params,
        }
        return (post(self._config, self.name, body, meanings=_MEANINGS),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn results into documents of their excerpts, and page requests.

        Raises:
            BadReply: HTML, truncated or wrong-shaped JSON, an error sent with 200.
        """
        body = read_json(reply, _Body)
        if body.error is not None or body.results is None:
            refuse_error(reply, body.error or body.detail)
        hits, note = hits_among(body.results, _Result, _hit)
        parsed = evidence(self._config, self.name, reply, hits, note=note)
        return with_answer(parsed, body.answer)


def _hit(result: _Result) -> Hit:
    return Hit(
        url=result.url,
        title=result.title or "",
        snippet=_GAP.sub("<br>", result.content or ""),
        published=result.published_date or "",
    )


def _dates(freshness: str | None) -> dict[str, str]:
    if freshness in _RELATIVE:
        return {"time_range": _RELATIVE[freshness]}
    days = days_of(freshness)
    return {"start_date": days[0], "end_date": days[1]} if days else {}
