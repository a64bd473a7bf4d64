"""Any site with a search page, by its row alone: the result page's links are followed, the page itself is no answer.

A result page is a page: it obeys robots.txt, and is read by the extractor like any other. What this adapter adds is to
take its links for results: those on the site's own domain whose address matches `params.match`, in the order of the
page; without `match`, those whose words share something with the question.

params: `match`: a regular expression for addresses; `follow`: how many results are fetched (default 3, at most 5);
`words`: how many search words are sent; `keep`: "true" if the result page itself says something worth quoting.
"""

import re
from urllib.parse import parse_qs, urlsplit

from msgspec.structs import replace
from signal_search.contracts.source import (
    FetchOutcome,
    FetchState,
    Link,
    Parsed,
    Reply,
    Request,
    SkipReason,
    SourceQuery,
)
from signal_search.errors import BadReply

from scoring.identity import site_of
from workers.adapter import SourceConfig
from workers.asking import call, page
from workers.template import fill, pushed_down, words_of

_FOLLOW = 3
_MAX_FOLLOWED = 5
_WORD = re.compile(r"[a-z0-9]{3,}|[\u4e00-\u9fff]{2}")
# A result page may ask not to be kept itself, and may have no text of its own; its links are no less results.
_STILL_LEADS_ON = frozenset({SkipReason.NOINDEX, SkipReason.EMPTY})


class SiteSearch:
    """A site's own search page."""

    name: str = "site_search"
    pushes_down: frozenset[str] = frozenset()
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row; its endpoint is the template of the result page's address."""
        self._config = config
        self.pushes_down = pushed_down(config.endpoint)
        params = config.params
        self._match = re.compile(params["match"]) if params.get("match") else None
        self._follow = min(int(params.get("follow", _FOLLOW)), _MAX_FOLLOWED)
        self._words = int(params.get("words", 0))
        self._keeps = params.get("keep") == "true"

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return the request for the result page."""
        url = fill(self._config.endpoint, ask, words=self._words)
        words = words_of(ask, self._words)
        asked = call(
            self._config, self.name, url, kind="page", words=words, accept_language=ask.language
        )
        return (asked,)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Refuse: a search page and its results are pages, which the extractor reads.

        Raises:
            BadReply: always.
        """
        raise BadReply("The source sent data where a page was expected.")

    def read_page(self, request: Request, outcome: FetchOutcome) -> FetchOutcome:
        """Take the links of a result page for what it brought. The pages of results are left as they are."""
        if request.depth:
            return outcome
        if outcome.state is FetchState.SKIPPED and outcome.reason not in _STILL_LEADS_ON:
            return outcome
        if outcome.state in {FetchState.MISSED, FetchState.REDIRECTED}:
            return outcome
        results = self._results(request, outcome.parsed.links)
        return replace(
            outcome,
            state=FetchState.FETCHED,
            reason="",
            detail="",
            parsed=Parsed(
                documents=outcome.parsed.documents if self._keeps else (),
                requests=tuple(
                    page(self._config, self.name, url) for url in results[: self._follow]
                ),
                note="" if results else "no results among the links of the page",
            ),
        )

    def _results(self, request: Request, links: tuple[Link, ...]) -> list[str]:
        own = [each for each in links if self._is_result(request, each)]
        if self._match is not None:
            return [each.url for each in own]
        wanted = set(_WORD.findall(request.words.lower()))
        rated = [(len(wanted & set(_WORD.findall(_said(each)))), each.url) for each in own]
        return [url for shared, url in sorted(rated, key=lambda each: -each[0]) if shared]

    def _is_result(self, request: Request, link: Link) -> bool:
        if site_of(link.url) != site_of(request.url) or _is_same_page(link.url, request.url):
            return False
        return self._match is None or self._match.search(link.url) is not None


def _said(link: Link) -> str:
    return f"{link.text} {link.context}".lower()


def _is_same_page(url: str, asked: str) -> bool:
    """Further result pages and other orders of the same search are no results."""
    one, other = urlsplit(url), urlsplit(asked)
    is_search = bool(parse_qs(one.query)) or not one.query
    return is_search and (one.netloc, one.path) == (other.netloc, other.path)
