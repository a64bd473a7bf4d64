"""What a body really is, and its characters: sniffed, because declared types and charsets are often wrong.

Charset order: byte order mark, well-formed UTF-8, Content-Type, meta (HTML only), detection, UTF-8 with replacements.
UTF-8 comes early because text of another charset is hardly ever well-formed UTF-8 by chance, while servers declare
ISO-8859-1 for everything. As browsers do, gb2312 and gbk are read as gb18030 and ISO-8859-1 as windows-1252.
"""

import re
from typing import Literal

import cchardet
from signal_search.contracts.source import Reply
from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    resolve_encoding,
)

from infra.http import RawReply

Form = Literal["html", "text", "pdf", "data", "other"]

_SNIFF_BYTES = 2048
_DETECT_BYTES = 100_000
_MAX_DAMAGE = 0.01  # share of undecodable characters above which a declared charset is not believed
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_HTML = re.compile(
    r"<(?:!doctype html|html|head|body|title|meta|script|style|link|h[1-6]|div|p|table|article|section|main|iframe"
    r"|font|br|a|b|!--)(?:[\s>/]|(?<=--)|$)",
    re.IGNORECASE,
)
_WHOLE_HTML = re.compile(r"<(?:!doctype html|html)[\s>]", re.IGNORECASE)
_DATA_TYPES = ("json", "xml", "csv", "yaml")
_TEXT_TYPES = ("text/plain", "text/markdown", "text/x-")
_PERMISSIVE = frozenset({"cp1252", "latin_1", "iso8859-1", "iso8859_1", "ascii"})
# Codecs that Python knows and the web does not: escapes would write other text than the page has, utf-7 hides markup.
_NO_CHARSETS = frozenset(
    {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"}
)


def form_of(body: bytes, content_type: str) -> Form:
    """Return what a body is, by its first bytes and only then by its declared type."""
    head = body[:_SNIFF_BYTES]
    if b"%PDF-" in head[:1024]:
        return "pdf"
    text = _head_text(head)
    if _is_binary(head) and not _WHOLE_HTML.match(text):  # a stray NUL makes no page an image
        return "other"
    return _text_form(text, content_type.split(";", 1)[0].strip().lower())


def _is_binary(head: bytes) -> bool:
    mark, _ = read_bom(head)
    return mark is None and _BINARY.search(head) is not None


def _head_text(head: bytes) -> str:
    mark, _ = read_bom(head)
    return head.decode(mark or "latin-1", "replace").lstrip("\ufeff \t\r\n")


def _text_form(head: str, declared: str) -> Form:
    if _WHOLE_HTML.match(head) or (head.startswith("<?xml") and _WHOLE_HTML.search(head)):
        return "html"
    if any(each in declared for each in _DATA_TYPES) and "xhtml" not in declared:
        return "data"
    if "html" in declared or not declared:
        return _undeclared_form(head, declared)
    return "text" if declared.startswith(_TEXT_TYPES) else "other"


def _undeclared_form(head: str, declared: str) -> Form:
    if head.startswith(("<?xml", "{", "[")) and "html" not in declared:
        return "data"
    looks_like = _HTML.search(head) if declared else _HTML.match(head)
    return "html" if looks_like or declared else "text"


def decode(body: bytes, content_type: str, *, is_html: bool) -> tuple[str, str]:
    """Return the text of a body and the name of the charset it was read in; never raises."""
    mark, mark_bytes = read_bom(body)
    if mark is not None:
        return body[len(mark_bytes or b"") :].decode(mark, "replace"), mark
    declared = _declared(body, content_type, is_html=is_html)
    if (declared is None or declared in _PERMISSIVE) and _is_utf8(body):
        return body.decode("utf-8"), "utf-8"
    for charset in (declared, "utf-8" if _is_utf8(body) else None, _detected(body)):
        text = _strictly(body, charset) if charset else None
        if charset and text is not None:
            return text, charset
    return body.decode("utf-8", "replace"), "utf-8"


def _declared(body: bytes, content_type: str, *, is_html: bool) -> str | None:
    named = http_content_type_encoding(content_type)
    if named is None and is_html:
        named = html_body_declared_encoding(body)
    return named if named and _is_charset(named) else None


def _is_charset(name: str) -> bool:
    """Say whether a codec turns bytes into text as a charset does: a page may name any, also `hex` or `zip`."""
    if name.lower().replace("_", "-") in _NO_CHARSETS:
        return False
    try:
        b"a".decode(name, "replace")  # no bytes at all would not ask the codec
    except (LookupError, UnicodeError):
        return False
    return True


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _strictly(body: bytes, charset: str) -> str | None:
    """Return the text if hardly anything in it had to be replaced."""
    text = body.decode(charset, "replace")
    return text if text.count("\ufffd") <= len(text) * _MAX_DAMAGE else None


def _detected(body: bytes) -> str | None:
    found = cchardet.detect(body[:_DETECT_BYTES])["encoding"]
    resolved = resolve_encoding(found) if found else None
    return str(resolved) if resolved else None


def as_reply(raw: RawReply) -> Reply:
    """Return a raw reply with its text decoded: what an adapter's `parse` is given."""
    return decoded(raw)[0]


def decoded(raw: RawReply) -> tuple[Reply, str]:
    """Return a raw reply with its text decoded, and the name of the charset it was read in."""
    content_type = raw.headers.get("content-type", "")
    is_html = form_of(raw.body, content_type) == "html"
    text, charset = decode(raw.body, content_type, is_html=is_html)
    reply = Reply(
        url=raw.url,
        status=raw.status,
        content_type=content_type,
        body=raw.body,
        text=text,
        fetched_at_ms=raw.fetched_at_ms,
        headers=raw.headers,
    )
    return reply, charset
