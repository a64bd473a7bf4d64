"""Exa by its search API: results by meaning, for a key.

Only highlights are asked for, which are the pages' own words; summaries would be a model's. Results come in order of
relevance and stay so: their scores are of different kinds, or missing.
"""

from typing import Any, Final

import msgspec
from msgspec import Struct
from signal_search.contracts.hit import Hit
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import SourceConfig
from workers.asking import post
from workers.hits import evidence, hits_among, question_of
from workers.records import days_of, read_json, refuse_error, size_of

_MAX_CHARS: Final = 1000
_MAX_RESULTS: Final = 100
_MAX_TEXT_CHARS: Final = 800
_MEANINGS: Final = {
    400: "the service did not accept the request",
    401: "the key is not valid",
    402: "the account has no credits left",
}


class _Result(Struct):
    url: str
    title: str | None = None
    text: str | None = None
    highlights: list[str] | None = None
    published: str | None = msgspec.field(name="publishedDate", default=None)


class _Body(Struct):
    results: list[object] | None = None
    error: object = None


class Exa:
    """Pages of the open web, found by meaning."""

    name: str = "exa"
    pushes_down: frozenset[str] = frozenset({"freshness"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one search. A range of days leaves out what has no date; relative forms need the day of the search."""
        body: dict[str, Any] = {
            "query": question_of(ask, chars=_MAX_CHARS),
            "type": "auto",
            "numResults": size_of(ask, _MAX_RESULTS),
            "contents": {"highlights": True},
            **_dates(ask),
            **self._config.params,
        }
        return (post(self._config, self.name, body, meanings=_MEANINGS),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn results into documents of their highlights, and page requests.

        Raises:
            BadReply: HTML, truncated or wrong-shaped JSON, an error sent with 200.
        """
        body = read_json(reply, _Body)
        if body.error is not None or body.results is None:
            refuse_error(reply, body.error)
        hits, note = hits_among(body.results, _Result, _hit)
        return evidence(self._config, self.name, reply, hits, note=note)


def _hit(result: _Result) -> Hit:
    return Hit(
        url=result.url,
        title=result.title or "",
        snippet=_snippet(result),
        published=result.published or "",
    )


def _snippet(result: _Result) -> str:
    """Return the highlights apart from each other: between them something is left out."""
    return "<br>".join(result.highlights or ()) or (result.text or "")[:_MAX_TEXT_CHARS]


def _dates(ask: SourceQuery) -> dict[str, str]:
    days = days_of(ask.freshness, ask.today)
    if days is None:
        return {}
    first, last = days
    return {
        "startPublishedDate": f"{first}T00:00:00.000Z",
        "endPublishedDate": f"{last}T23:59:59.999Z",
    }
