"""en.wikipedia.org and zh.wikipedia.org: the search and extract modules of the MediaWiki Action API.

Strict as the real one is: no contact in the User-Agent is 403, errors come with 200 and a `MediaWiki-API-Error` header,
unknown parameters are warnings in the reply (and a complaint in the log), a second request at a time is 429 when rates
are enforced. Only `formatversion=2` is spoken.
"""

import re
from functools import lru_cache
from urllib.parse import unquote

from infra.loopback_web import corpus, exchange, wiki_text
from infra.loopback_web.corpus import Article
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.mediawiki import main_fault, strange_values
from infra.loopback_web.search import Index, terms

_MAIN = {"action", "format", "formatversion", "maxlag", "errorformat", "origin", "uselang"}
_MAIN |= {"variant", "utf8"}
_SEARCH = {"list", "srsearch", "srlimit", "sroffset", "srprop", "srnamespace", "srsort"}
_SEARCH |= {"srinfo", "srwhat"}
_PAGES = {"prop", "pageids", "titles", "explaintext", "exintro", "exlimit", "exchars"}
_PAGES |= {"exsentences"}
_PAGES |= {"exsectionformat", "rvprop", "rvslots", "ppprop", "inprop", "redirects", "converttitles"}
_CHOICES: dict[str, set[str]] = {
    "prop": {"extracts", "revisions", "pageprops", "info"},
    "rvprop": {"ids", "timestamp", "flags", "comment", "user", "content", "size"},
    "ppprop": {"disambiguation", "wikibase_item", "defaultsort"},
}
_SEARCH_PROPS = {"size", "wordcount", "timestamp", "snippet"}
_MAX_SEARCH = 500
_MAX_IDS = 50
_MAX_EXTRACTS = 20
_MAX_QUERY_CHARS = 300
_MIN_SHARE = 0.6
_CONTACT = re.compile(r"https?://|\S@\S")


class Wikipedia:
    """One edition."""

    def __init__(self, language: str, *, enforce_pace: bool = False) -> None:
        """Serve the articles of `en` or `zh`."""
        self._language = language
        self._enforce_pace = enforce_pace

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.path == "/robots.txt":
            return exchange.text(
                "User-agent: *\nAllow: /w/api.php?action=mobileview&\nDisallow: /w/\nDisallow: /api/\n"
            )
        if not _CONTACT.search(ask.headers.get("user-agent", "")):
            return exchange.text(
                "Please set a user-agent and respect our robot policy.\n", status=403
            )
        if self._enforce_pace and ask.active > 1:
            return exchange.text("Too many requests\n", status=429, retry_after="1")
        if ask.path == "/w/api.php":
            return self._api(ask)
        return self._page(ask)

    def _api(self, ask: Ask) -> Answer:
        if ask.method not in {"GET", "HEAD", "POST"}:
            return exchange.method_not_allowed("GET", "HEAD", "POST")
        fields = ask.fields
        if fields.get("action") != "query" or fields.get("format") != "json":
            return _error("badvalue", 'Unrecognized value for parameter "action" or "format".')
        if "formatversion" not in fields or main_fault(fields)[0]:
            return _error(*main_fault({"formatversion": "", **fields}))
        if fields.get("list") == "search":
            return self._search(fields)
        if "pageids" in fields or "titles" in fields:
            return self._extracts(fields)
        return _answer({"batchcomplete": True}, _unknown(fields, _MAIN))

    def _search(self, fields: dict[str, str]) -> Answer:
        if not fields.get("srsearch"):
            return _error("missingparam", 'The "srsearch" parameter must be set.')
        if len(fields["srsearch"]) > _MAX_QUERY_CHARS:
            return _error(
                "cirrussearch-query-too-long",
                "Search request is longer than the maximum allowed length.",
            )
        limit, offset = fields.get("srlimit", "10"), fields.get("sroffset", "0")
        if not (limit.isdecimal() and offset.isdecimal()):
            return _error(
                "badinteger", 'Invalid value for integer parameter "srlimit" or "sroffset".'
            )
        warnings = _unknown(fields, _MAIN | _SEARCH) + _search_warnings(fields, int(limit))
        size, start = min(max(int(limit), 1), _MAX_SEARCH), int(offset)
        hits = _index(self._language).rank(fields["srsearch"], share=_MIN_SHARE)
        return _answer(self._search_body(fields["srsearch"], hits, start, size), warnings)

    def _search_body(self, query: str, hits: list[int], start: int, size: int) -> dict[str, object]:
        found = [corpus.articles(self._language)[number] for number in hits[start : start + size]]
        more = start + size < len(hits)
        following = {"continue": {"sroffset": start + size, "continue": "-||"}} if more else {}
        listed = [_hit(article, set(terms(query))) for article in found]
        return {
            "batchcomplete": True,
            **following,
            "query": {"searchinfo": {"totalhits": len(hits)}, "search": listed},
        }

    def _extracts(self, fields: dict[str, str]) -> Answer:
        asked = (fields.get("pageids") or fields.get("titles") or "").split("|")
        if "pageids" in fields and not all(each.isdecimal() for each in asked):
            return _error("badinteger", 'Invalid value for integer parameter "pageids".')
        if len(asked) > _MAX_IDS:
            return _error(
                "toomanyvalues",
                'Too many values supplied for parameter "pageids". The limit is 50.',
            )
        exlimit = fields.get("exlimit", str(_MAX_EXTRACTS))
        if exlimit != "max" and not exlimit.isdecimal():
            return _error("badinteger", 'Invalid value for integer parameter "exlimit".')
        allowed, warnings = _extract_limit(fields, exlimit)
        warnings += _unknown(fields, _MAIN | _PAGES)
        warnings += [("query", told) for told in strange_values(fields, _CHOICES)]
        found = sorted(
            (self._find(each) for each in asked), key=lambda pair: pair[1].id if pair[1] else 0
        )
        pages = [
            _page_body(key, article, fields, with_extract=number < allowed)
            for number, (key, article) in enumerate(found)
        ]
        left = (
            {"continue": {"excontinue": allowed, "continue": "||"}} if len(pages) > allowed else {}
        )
        return _answer({"batchcomplete": not left, **left, "query": {"pages": pages}}, warnings)

    def _find(self, key: str) -> tuple[str, Article | None]:
        title = key.replace("_", " ")
        every = corpus.articles(self._language)
        return key, next(
            (each for each in every if str(each.id) == key or each.title == title), None
        )

    def _page(self, ask: Ask) -> Answer:
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        kind, title = _page_title(ask.path)
        article = self._find(title)[1] if title else None
        if article is None:
            return exchange.page("<html><body>Not found</body></html>", status=404)
        if kind == "summary":
            return exchange.json(wiki_text.summary(article, ask.host, self._language))
        return exchange.page(wiki_text.article_page(article, self._language))


@lru_cache(maxsize=2)
def _index(language: str) -> Index:
    return Index([(article.title, article.text) for article in corpus.articles(language)])


def _answer(body: dict[str, object], warnings: list[tuple[str, str]]) -> Answer:
    if not warnings:
        return exchange.json(body)
    told = {module: {"warnings": sentence} for module, sentence in warnings}
    return exchange.json(
        {**body, "warnings": told}, complaint="; ".join(sentence for _, sentence in warnings)
    )


def _error(code: str, info: str) -> Answer:
    body = {"error": {"code": code, "info": info, "docref": "See the API's own help."}}
    return exchange.json(body, complaint=f"{code}: {info}", mediawiki_api_error=code)


def _unknown(fields: dict[str, str], known: set[str]) -> list[tuple[str, str]]:
    strange = sorted(fields.keys() - known)
    return [("main", f"Unrecognized parameters: {', '.join(strange)}.")] if strange else []


def _search_warnings(fields: dict[str, str], limit: int) -> list[tuple[str, str]]:
    told: list[tuple[str, str]] = []
    if not 1 <= limit <= _MAX_SEARCH:
        told.append(
            ("search", f'The value "{limit}" for parameter "srlimit" must be between 1 and 500.')
        )
    strange = set(filter(None, fields.get("srprop", "").split("|"))) - _SEARCH_PROPS
    if strange:
        told.append(
            ("search", f'Unrecognized values for parameter "srprop": {", ".join(sorted(strange))}')
        )
    return told


def _extract_limit(fields: dict[str, str], stated: str) -> tuple[int, list[tuple[str, str]]]:
    wanted = _MAX_EXTRACTS if stated == "max" else int(stated)
    if wanted > _MAX_EXTRACTS:
        return _MAX_EXTRACTS, [("extracts", '"exlimit" may not be over 20.')]
    if wanted > 1 and "exintro" not in fields:
        told = '"exlimit" was too large for a whole article extracts request, lowered to 1.'
        return 1, [("extracts", told)]
    return max(1, wanted), []


def _hit(article: Article, wanted: set[str]) -> dict[str, object]:
    return {
        "ns": 0,
        "title": article.title,
        "pageid": article.id,
        "size": len(article.text.encode()),
        "wordcount": len(article.text.split()),
        "snippet": wiki_text.snippet(article.text, wanted),
        "timestamp": article.edited,
    }


def _page_body(
    key: str, article: Article | None, fields: dict[str, str], *, with_extract: bool
) -> dict[str, object]:
    if article is None:
        return (
            {"pageid": int(key), "missing": True}
            if key.isdecimal()
            else {"ns": 0, "title": key, "missing": True}
        )
    body: dict[str, object] = {"pageid": article.id, "ns": 0, "title": article.title}
    props = fields.get("prop", "").split("|")
    if "extracts" in props and with_extract:
        body["extract"] = wiki_text.extract(article, intro="exintro" in fields)
    if "revisions" in props:
        body["revisions"] = [
            {"revid": article.revision, "parentid": 0, "timestamp": article.edited}
        ]
    if "pageprops" in props and article.disambiguation:
        body["pageprops"] = {"disambiguation": ""}
    return body


def _page_title(path: str) -> tuple[str, str]:
    for prefix, kind in (("/api/rest_v1/page/summary/", "summary"), ("/wiki/", "page")):
        if path.startswith(prefix):
            return kind, unquote(path.removeprefix(prefix))
    return "", ""
