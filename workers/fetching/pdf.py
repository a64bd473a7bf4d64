"""Text of a PDF by PDFium, within caps of pages, characters and time.

PDFium is C and not thread-safe: call it only in a process that may be killed. A file without a text layer (scanned,
encrypted) is empty, never a success.
"""

import pypdfium2
from signal_search.errors import BadReply

from infra.clock import Clock, SystemClock

MAX_PAGES = 200
MAX_CHARS = 2_000_000
MAX_SECONDS = 12.0


def pdf_text(
    body: bytes, *, clock: Clock | None = None, max_pages: int = MAX_PAGES
) -> tuple[str, str]:
    """Return title and text; pages beyond a cap are left out.

    Raises:
        BadReply: not a PDF that can be opened, or one that needs a password.
    """
    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        raise BadReply("The PDF cannot be opened.") from error
    try:
        title = document.get_metadata_value("Title")
        return str(title or ""), _pages(document, clock or SystemClock(), max_pages)
    finally:
        document.close()


def _pages(document: pypdfium2.PdfDocument, clock: Clock, max_pages: int) -> str:
    parts: list[str] = []
    size = 0
    until = clock.monotonic() + MAX_SECONDS
    for number in range(min(len(document), max_pages)):
        if size >= MAX_CHARS or clock.monotonic() >= until:
            break
        text = _page(document, number)
        parts.append(text)
        size += len(text)
    return "\n\n".join(parts)[:MAX_CHARS]


def _page(document: pypdfium2.PdfDocument, number: int) -> str:
    """Return a page's text; a broken page among good ones is empty."""
    try:
        page = document[number]
        return str(page.get_textpage().get_text_bounded())
    except pypdfium2.PdfiumError:
        return ""
