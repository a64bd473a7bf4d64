"""Any search that answers with Atom or RSS, by its row alone: a template with blanks, or the site's own description.

With `params.description` the endpoint is an OpenSearch description document (OpenSearch 1.1), which is read first; its
template for Atom or RSS results, on the same site, is then filled in. The search words travel with that request,
because who reads the description does not know the question. Descriptions and results of a web site are feeds and obey
robots.txt; a row of kind `api` (`params.kind`) is asked under its API's terms.

params: `description`: "true"; `words`: how many search words are sent; `follow`: how many pages found are fetched.
"""

from typing import Any, Final, Literal
from urllib.parse import urljoin

from lxml import etree
from signal_search.contracts.document import Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery
from signal_search.errors import BadReply

from scoring.identity import site_of
from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import call, page
from workers.entries import Entry, read_entries
from workers.template import fill, pushed_down, words_of

_MAX_ITEMS = 20
_MAX_FOLLOWED = 5
_RESULTS: Final = ("application/atom+xml", "application/rss+xml")


class OpenSearch:
    """A search whose results are a feed."""

    name: str = "opensearch"
    pushes_down: frozenset[str] = frozenset()
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row; what it carries of the constraints is read off its template."""
        self._config = config
        self._describes = config.params.get("description") == "true"
        self.pushes_down = pushed_down(config.endpoint)
        self._words = _number(config.params.get("words"))
        self._follow = min(_number(config.params.get("follow")), _MAX_FOLLOWED)
        self._kind: Literal["api", "feed"] = "api" if config.params.get("kind") == "api" else "feed"

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return the request for the results, or for the description that says where they are."""
        if not self._describes:
            return (self._request(fill(self._config.endpoint, ask, words=self._words), ask),)
        words = words_of(ask, self._words)
        return (self._request(self._config.endpoint, ask, words=words),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn results into documents and the first of their pages into requests, or a description into the search.

        Raises:
            BadReply: HTML, JSON or text, truncated XML, XML that is neither; a description without Atom or RSS.
        """
        if self._describes and request.depth == 0:
            return Parsed(requests=(self._search(request, reply),))
        base = reply.url or request.url
        found = read_entries(reply, base)
        made = [self._document(entry, reply) for entry in found.entries[:_MAX_ITEMS]]
        documents = tuple(each for each in made if each is not None)
        pages = list(dict.fromkeys(each.url for each in documents))[: self._follow]
        return Parsed(
            documents=documents,
            requests=tuple(
                page(self._config, self.name, url, depth=request.depth + 1) for url in pages
            ),
            total=found.total if found.entries else 0,
            note=_note(len(found.entries) - len(documents)),
        )

    def _search(self, request: Request, reply: Reply) -> Request:
        template = _template(reply, request.url)
        ask = SourceQuery(text=request.words, language=request.accept_language)
        url = fill(template, ask)
        if site_of(url) != site_of(request.url):
            raise BadReply("The source's search description leads to another site.")
        return self._request(url, ask, depth=request.depth + 1)

    def _request(self, url: str, ask: SourceQuery, *, depth: int = 0, words: str = "") -> Request:
        return call(
            self._config,
            self.name,
            url,
            kind=self._kind,
            accept_language=ask.language,
            depth=depth,
            words=words,
        )

    def _document(self, entry: Entry, reply: Reply) -> Document | None:
        if not entry.link or not (entry.title or entry.summary):
            return None
        return make_document(
            url=entry.link,
            title=entry.title or entry.link,
            text="\n\n".join(part for part in (entry.title, entry.summary) if part),
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=DocumentFacts(
                language=self._config.language,
                published=entry.published,
                date_kind="record" if entry.published else "none",
                authors=entry.authors,
                source_type=self._config.source_type,
                signals=("summary",),
            ),
        )


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 6 else 0


def _note(unusable: int) -> str:
    return f"{unusable} results without address or words, or beyond the limit" if unusable else ""


def _template(reply: Reply, base: str) -> str:
    """Return the description's template for results as Atom, else as RSS (OpenSearch 1.1, "The Url element")."""
    urls = {
        (node.get("type") or "").split(";")[0].strip().lower(): node.get("template") or ""
        for node in _description(reply).iter("{*}Url")
        if node.get("rel", "results") == "results"
    }
    found = next((urls[kind] for kind in _RESULTS if urls.get(kind)), "")
    if not found:
        raise BadReply("The source's search description offers neither Atom nor RSS.")
    return _joined(base, found)


def _joined(base: str, template: str) -> str:
    try:
        return urljoin(base, template)
    except ValueError as error:
        raise BadReply("The source's search description has no usable address.") from error


def _description(reply: Reply) -> Any:
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    text = reply.text.lstrip("\ufeff").strip()
    if text.startswith("<?xml"):
        text = text.partition("?>")[2]
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError as error:
        raise BadReply("The source sent something else than a search description.") from error
    if etree.QName(root).localname != "OpenSearchDescription":
        raise BadReply("The source sent something else than a search description.")
    return root
