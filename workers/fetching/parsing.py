"""What runs in the parsing process: pure, picklable, and the last step before anything is cached, stored or logged.

The extractor is imported at first use, so that the process that only submits work does not carry its models.
"""

import msgspec
from signal_search.contracts.document import Author, Document
from signal_search.contracts.hit import Hit
from signal_search.contracts.source import FetchOutcome, Link, Parsed, Request
from signal_search.errors import SourceFailed

from infra.http import RawReply
from scoring.identity import document_id
from workers.fetching.outcomes import missed, outcome_of_status
from workers.fetching.plain_text import plain_text
from workers.fetching.redaction import redact, redact_url


def extract(request: Request, raw: RawReply, product: str = "") -> FetchOutcome:
    """Return the redacted outcome of a page: its document and links, or why there are none. Raises nothing of ours."""
    by_status = outcome_of_status(request, raw)
    if by_status is not None:
        return by_status
    from workers.fetching.extraction import read_page  # noqa: PLC0415 - see above

    try:
        outcome = read_page(request, raw, product)
    except SourceFailed as error:
        return missed(request, error, raw=raw)
    return msgspec.structs.replace(outcome, parsed=redact_parsed(outcome.parsed))


def redact_parsed(parsed: Parsed) -> Parsed:
    """Return the same with every text in its stored form and redacted, and every URL without secrets.

    Idempotent. A document whose text or URL changed gets the content id of what is stored. Follow-up requests and
    redirects are left as they are: they are sent, and an adapter's own key may be a part of them.
    """
    return msgspec.structs.replace(
        parsed,
        documents=tuple(_document(each) for each in parsed.documents),
        links=tuple(_link(each) for each in parsed.links),
        note=redact(parsed.note),
        hits=tuple(_hit(each) for each in parsed.hits),
        answer=_stored(parsed.answer),
    )


def _document(document: Document) -> Document:
    url = redact_url(document.url)
    text = _stored(document.text)
    return msgspec.structs.replace(
        document,
        doc_id=document_id(url, text),
        url=url,
        title=_stored(document.title),
        text=text,
        authors=tuple(_author(each) for each in document.authors),
        container=_stored(document.container),
        publisher=_stored(document.publisher),
    )


def _author(author: Author) -> Author:
    return Author(
        family=redact(author.family), given=redact(author.given), literal=redact(author.literal)
    )


def _link(link: Link) -> Link:
    return Link(url=redact_url(link.url), text=redact(link.text), context=redact(link.context))


def _hit(hit: Hit) -> Hit:
    return msgspec.structs.replace(
        hit,
        url=redact_url(hit.url),
        title=_stored(hit.title),
        snippet=_stored(hit.snippet),
        authors=tuple(_author(each) for each in hit.authors),
        container=_stored(hit.container),
    )


def _stored(text: str) -> str:
    return redact(plain_text(text))
