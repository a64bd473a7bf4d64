"""Brave Search by its web search API: an index of its own, for a key.

The reply's `age` is written for people and is no date; `page_age` is one.
"""

import re
from typing import Final

from msgspec import Struct
from signal_search.contracts.hit import Hit
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import SourceConfig
from workers.asking import address, call
from workers.hits import evidence, hits_among, question_of
from workers.records import days_of, read_json, refuse_error, size_of

_MAX_CHARS: Final = 400
_MAX_WORDS: Final = 50
_MAX_COUNT: Final = 20
_RELATIVE: Final = frozenset({"pd", "pw", "pm", "py"})
# search_lang has names of its own where others have ISO 639-1.
_LANGUAGES: Final = {
    each: each
    for each in re.findall(
        r"\S+",
        "ar eu bn bg ca hr cs da nl en et fi fr gl de el gu he hi hu is it kn ko lv lt ms ml mr nb pl pa ro ru sr sk "
        "sl es sv ta te th tr uk vi",
    )
} | {
    "zh": "zh-hans",
    "zh-tw": "zh-hant",
    "zh-hk": "zh-hant",
    "ja": "jp",
    "pt": "pt-pt",
    "pt-br": "pt-br",
}
_MEANINGS: Final = {
    402: "the plan's quota is used up",
    422: "the service did not accept a parameter or the key",
}


class _Result(Struct):
    url: str
    title: str | None = None
    description: str | None = None
    page_age: str | None = None
    language: str | None = None


class _Web(Struct):
    results: list[object] = []


class _Body(Struct):
    type: str = ""
    web: _Web | None = None
    error: object = None


class Brave:
    """Pages of the open web."""

    name: str = "brave"
    pushes_down: frozenset[str] = frozenset({"language", "freshness"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one search; a freshness becomes the day the page was discovered, which is all the service knows."""
        fields = {
            "q": question_of(ask, chars=_MAX_CHARS, words=_MAX_WORDS),
            "count": str(size_of(ask, _MAX_COUNT)),
            "result_filter": "web",
            "text_decorations": "false",
            **_language(ask.language.lower()),
            **_freshness(ask.freshness),
        }
        url = address(self._config, self._config.endpoint, fields)
        return (call(self._config, self.name, url, meanings=_MEANINGS),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn web results into documents and page requests.

        Raises:
            BadReply: HTML, truncated or wrong-shaped JSON, an error sent with 200.
        """
        body = read_json(reply, _Body)
        if body.error is not None or body.type == "ErrorResponse":
            refuse_error(reply, body.error)
        hits, note = hits_among(body.web.results if body.web else [], _Result, _hit)
        return evidence(self._config, self.name, reply, hits, note=note)


def _hit(result: _Result) -> Hit:
    return Hit(
        url=result.url,
        title=result.title or "",
        snippet=result.description or "",
        published=result.page_age or "",
        language=result.language or "",
    )


def _language(code: str) -> dict[str, str]:
    name = _LANGUAGES.get(code) or _LANGUAGES.get(code.partition("-")[0])
    return {"search_lang": name} if name else {}


def _freshness(wanted: str | None) -> dict[str, str]:
    if wanted in _RELATIVE:
        return {"freshness": str(wanted)}
    days = days_of(wanted)
    return {"freshness": f"{days[0]}to{days[1]}"} if days else {}
