"""SearXNG, a meta search engine that an operator runs for themselves, by its JSON output.

The instance must list `json` under `search.formats`, or it answers 403. It asks many engines, and any of them may be
suspended: which ones did not answer is said in the note, and an answer of none of them is no "nothing found".
"""

from typing import Final

import msgspec
from msgspec import Struct
from signal_search.contracts.hit import Hit
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery
from signal_search.errors import BadReply

from workers.adapter import SourceConfig
from workers.asking import address, call
from workers.hits import evidence, hits_among, question_of
from workers.records import read_json

_MAX_CHARS: Final = 500
_MAX_NAMED: Final = 8
_TIME_RANGES: Final = {"pd": "day", "pw": "week", "pm": "month", "py": "year"}
_LANGUAGES: Final = {"zh": "zh-CN"}
_MEANINGS: Final = {403: "this instance does not give JSON (search.formats in its settings)"}


class _Result(Struct):
    url: str
    title: str | None = None
    content: str | None = None
    published: str | None = msgspec.field(name="publishedDate", default=None)


class _Body(Struct):
    results: list[object]
    unresponsive_engines: list[list[object]] = []


class Searxng:
    """Pages found by the engines of one's own instance."""

    name: str = "searxng"
    pushes_down: frozenset[str] = frozenset({"language"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row; its endpoint is the instance's `/search`."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one search. Its time ranges end today; a range of days is left to who filters afterwards."""
        fields = {"q": question_of(ask, chars=_MAX_CHARS), "format": "json", "pageno": "1"}
        code = ask.language.partition("-")[0]
        if code:
            fields["language"] = _LANGUAGES.get(code, code)
        if ask.freshness in _TIME_RANGES:
            fields["time_range"] = _TIME_RANGES[ask.freshness]
        url = address(self._config, self._config.endpoint, fields)
        return (call(self._config, self.name, url, meanings=_MEANINGS),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn results into documents and page requests; the best come first.

        Raises:
            BadReply: HTML (a captcha, or another format), truncated or wrong-shaped JSON, or no engine answered.
        """
        body = read_json(reply, _Body)
        if not body.results and body.unresponsive_engines:
            raise BadReply("None of the engines behind this instance answered.")
        hits, note = hits_among(body.results, _Result, _hit)
        notes = (_silent(body.unresponsive_engines), note)
        return evidence(self._config, self.name, reply, hits, note="; ".join(filter(None, notes)))


def _hit(result: _Result) -> Hit:
    return Hit(
        url=result.url,
        title=result.title or "",
        snippet=result.content or "",
        published=result.published or "",
    )


def _silent(engines: list[list[object]]) -> str:
    """Return which engines did not answer and why, in the instance's words."""
    told = [": ".join(str(part)[:60] for part in each[:2]) for each in engines[:_MAX_NAMED]]
    return f"engines without an answer: {', '.join(told)}" if told else ""
