"""api.gdeltproject.org: the DOC 2.0 API, article lists only, over the invented newspaper.

Strict as the API is: what it cannot run it refuses in plain text with status 200. No matches are an empty object. When
rates are enforced: one request in five seconds, then 429 in plain text.
"""

import re

from infra.loopback_web import exchange
from infra.loopback_web.corpus import Story, stories
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.library import Pace
from infra.loopback_web.search import Index

_KNOWN = {
    "query",
    "mode",
    "format",
    "maxrecords",
    "sort",
    "startdatetime",
    "enddatetime",
    "timespan",
}
_LANGUAGES = {"eng", "english", "zho", "chinese", "deu", "fra", "spa", "jpn"}
_STAMP = re.compile(r"[0-9]{14}")
_LONGEST_QUERY = 250
_MAX_RECORDS = 250
_OLDEST = "20170101000000"
_SORTS = {"datedesc", "dateasc", "tonedesc", "toneasc", "hybridrel"}


class Gdelt:
    """News articles by words."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        """Serve the newspaper's articles."""
        self._stories = stories()
        self._index = Index([(each.title, f"{each.summary} {each.text}") for each in self._stories])
        self._pace = Pace(1, 5000, enforced=enforce_pace)

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        if ask.path != "/api/v2/doc/doc":
            return exchange.page("<html><body>404</body></html>", status=404)
        if self._pace.refuses(ask.now_ms):
            text = "Please limit requests to one every 5 seconds or contact us for larger queries."
            return exchange.text(text, status=429)
        wrong = _wrong(ask.fields)
        if wrong:
            return Answer(
                body=f"{wrong}\n".encode(),
                headers={"content-type": "text/html; charset=utf-8"},
                complaint=wrong,
            )
        return self._articles(ask.fields)

    def _articles(self, fields: dict[str, str]) -> Answer:
        words = re.sub(r"\bsourcelang:\w+", "", fields["query"])
        language = re.search(r"\bsourcelang:(\w+)", fields["query"])
        if language and language[1] not in {"eng", "english"}:
            return exchange.json({})
        found = [self._stories[number] for number in self._index.rank(words, share=1.0)]
        found = [each for each in found if _passes(each, fields)]
        listed = [_article(each) for each in found[: int(fields.get("maxrecords", "75"))]]
        return exchange.json({"articles": listed} if listed else {})


def _wrong(fields: dict[str, str]) -> str:
    """Return what is wrong, in the API's words where they are known."""
    unknown = sorted(fields.keys() - _KNOWN)
    if unknown or fields.get("mode") != "artlist" or fields.get("format") != "json":
        return f"Invalid/Unsupported: {', '.join(unknown) or 'mode or format'}."
    words = re.sub(r"\bsourcelang:\w+", "", fields.get("query", "")).split()
    if not words or len(fields["query"]) > _LONGEST_QUERY:
        return "Your query was too short or too long."
    if any(len(word) < 3 and word.isascii() for word in words):
        return "The specified phrase is too short."
    return _wrong_choice(fields)


def _wrong_choice(fields: dict[str, str]) -> str:
    language = re.search(r"\bsourcelang:(\w+)", fields["query"])
    most = fields.get("maxrecords", "75")
    stamps = (value for name, value in fields.items() if name.endswith("datetime"))
    checks = (
        (language is not None and language[1] not in _LANGUAGES, "Invalid/Unsupported Language."),
        (not most.isdecimal() or not 1 <= int(most) <= _MAX_RECORDS, "Invalid maxrecords."),
        (fields.get("sort", "hybridrel").lower() not in _SORTS, "Invalid/Unsupported: sort."),
        (not all(map(_STAMP.fullmatch, stamps)), "Invalid/Unsupported Date."),
        (fields.get("startdatetime", "9") < _OLDEST, "Invalid query start date."),
    )
    return next((sentence for is_wrong, sentence in checks if is_wrong), "")


def _seen(story: Story) -> str:
    return re.sub(r"[^0-9T]", "", story.published[:19]) + "Z"


def _passes(story: Story, fields: dict[str, str]) -> bool:
    stamp = re.sub(r"[^0-9]", "", _seen(story))
    return fields.get("startdatetime", "") <= stamp <= fields.get("enddatetime", "9")


def _article(story: Story) -> dict[str, str]:
    return {
        "url": f"http://news.test{story.path}",
        "url_mobile": "",
        "title": story.title,
        "seendate": _seen(story),
        "socialimage": "",
        "domain": "news.test",
        "language": "English",
        "sourcecountry": "United Kingdom",
    }
