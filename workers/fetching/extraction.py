"""From a page's bytes to a document and its links: HTML, plain text and PDF; other types are skipped by name.

Runs in a process that may be killed: parsers of hostile input hang, and PDFium is C. The stored text is normalised
once; spans point into it as UTF-8 bytes.
"""

import trafilatura
from lxml.html import HtmlElement
from msgspec.structs import replace
from signal_search.contracts.document import Document
from signal_search.contracts.source import FetchOutcome, Link, Parsed, Request, SkipReason

from infra.http import RawReply
from workers.adapter import DocumentFacts, make_document
from workers.fetching.decoding import decode, form_of
from workers.fetching.language import language_of
from workers.fetching.links import page_links
from workers.fetching.main_text import MainText, main_text
from workers.fetching.outcomes import fetched, skipped
from workers.fetching.page_facts import Facts, page_facts, permissions
from workers.fetching.pdf import pdf_text
from workers.fetching.plain_text import one_line, plain_text
from workers.fetching.walls import Page, find_wall

_MAX_HTML_CHARS = 3_000_000
_TITLE_CHARS = 120


def read_page(request: Request, raw: RawReply, product: str = "") -> FetchOutcome:
    """Return what a page with status 200 brought, not yet redacted.

    product: our name as robots directives spell it.

    Raises:
        BadReply: a PDF that cannot be opened.
    """
    content_type = raw.headers.get("content-type", "")
    match form_of(raw.body, content_type):
        case "html":
            return _read_html(request, raw, product)
        case "text":
            text, charset = decode(raw.body, content_type, is_html=False)
            return _with(_read_text(request, raw, product, ("", text)), charset=charset)
        case "pdf":
            return _read_text(request, raw, product, pdf_text(raw.body))
        case _:
            return skipped(request, SkipReason.CONTENT_TYPE, "neither HTML, text nor PDF", raw=raw)


def _read_text(
    request: Request, raw: RawReply, product: str, found: tuple[str, str]
) -> FetchOutcome:
    title, text = found[0], plain_text(found[1])
    if not permissions(None, raw.headers, product, raw.fetched_at_ms).store:
        return skipped(request, SkipReason.NOINDEX, "X-Robots-Tag", raw=raw)
    if not text:
        return skipped(request, SkipReason.EMPTY, "no text layer", raw=raw)
    facts = Facts(title=one_line(title or text.split("\n", 1)[0], _TITLE_CHARS))
    document = _document(request, raw, facts, MainText(text, 1.0))
    return fetched(request, raw, Parsed(documents=(document,)))


def _read_html(request: Request, raw: RawReply, product: str) -> FetchOutcome:
    content_type = raw.headers.get("content-type", "")
    text, charset = decode(raw.body, content_type, is_html=True)
    html = text[:_MAX_HTML_CHARS].replace("\x00", "")
    tree = trafilatura.load_html(html)
    if tree is None:
        return skipped(request, SkipReason.EMPTY, "no HTML elements", raw=raw)
    found = main_text(html, tree, raw.url)
    outcome = _judge(request, raw, product, tree, (html, found))
    return _with(outcome, charset=charset, extraction_ratio=found.ratio)


def _judge(
    request: Request, raw: RawReply, product: str, tree: HtmlElement, read: tuple[str, MainText]
) -> FetchOutcome:
    html, text = read
    facts = page_facts(tree, html, raw.url, raw.fetched_at_ms)
    wall = find_wall(
        Page(
            url=raw.url,
            status=raw.status,
            headers=raw.headers,
            html=html,
            title=facts.title,
            text=text.text,
        )
    )
    if wall:
        return skipped(request, wall.skip_reason, wall.detail, raw=raw)
    return _kept(request, raw, product, tree, (facts, text))


def _kept(
    request: Request,
    raw: RawReply,
    product: str,
    tree: HtmlElement,
    found: tuple[Facts, MainText],
) -> FetchOutcome:
    """Keep what the page allows; its links may be followed even where its text may not be stored."""
    facts, text = found
    allowed = permissions(tree, raw.headers, product, raw.fetched_at_ms)
    links: tuple[Link, ...] = page_links(tree, raw.url) if allowed.follow else ()
    if not allowed.store:
        parsed = Parsed(links=links)
        return skipped(request, SkipReason.NOINDEX, "robots directive", raw=raw, parsed=parsed)
    if not text.text:
        parsed = Parsed(links=links)
        return skipped(request, SkipReason.EMPTY, "no main text", raw=raw, parsed=parsed)
    document = _document(request, raw, facts, text)
    return fetched(request, raw, Parsed(documents=(document,), links=links))


def _with(outcome: FetchOutcome, **decisions: str | float) -> FetchOutcome:
    return replace(outcome, decisions={**outcome.decisions, **decisions})


def _document(request: Request, raw: RawReply, facts: Facts, text: MainText) -> Document:
    return make_document(
        url=raw.url,
        title=facts.title,
        text=text.text,
        source_id=request.source_id,
        fetched_at_ms=raw.fetched_at_ms,
        facts=DocumentFacts(
            language=language_of(text.text, facts.declared_language),
            published=facts.published,
            date_kind=facts.date_kind,
            authors=facts.authors,
            publisher=facts.publisher,
            doi=facts.doi,
            record=False,
            extraction_ratio=text.ratio,
        ),
    )
