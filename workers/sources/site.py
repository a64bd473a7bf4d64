"""A web site by its start address: the start page first, then whatever its links and sitemaps promise.

Which links are followed is decided by relevance elsewhere; this adapter sets the bounds (one origin) and reads
sitemaps.
"""

import re
import zlib
from typing import Any, NoReturn
from urllib.parse import unquote, urljoin, urlsplit

from lxml import etree
from signal_search.contracts.source import Link, Parsed, Reply, Request, SourceQuery
from signal_search.errors import BadReply

from workers.adapter import SourceConfig

_MAX_LINKS = 200
_MAX_SITEMAPS = 5
_MAX_DEPTH = 2  # sitemaps.org: an index lists sitemaps, not further indexes; one level of grace
_MAX_UNPACKED_BYTES = 10_000_000
_DEFAULT_PORTS = {"http": 80, "https": 443}
_WORD = re.compile(r"[^\W_]+")


class Site:
    """Pages of one origin."""

    name: str = "site"
    pushes_down: frozenset[str] = frozenset({"domain"})
    shared: bool = True

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row; its endpoint is the start address. params.max_links caps what one sitemap gives."""
        self._config = config
        cap = config.params.get("max_links", "")
        self._max_links = int(cap) if cap.isdecimal() else _MAX_LINKS

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return the request for the start page; its `site` is the origin, `scheme://host[:port]/`."""
        start = self._config.endpoint
        return (self._request(start, "page", site=_origin(start), depth=0, language=ask.language),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Read a sitemap: pages become links, sitemaps of an index become requests, both within the site only.

        Raises:
            BadReply: HTML or text, truncated XML, XML that is no sitemap, an archive that unpacks to too much.
        """
        root = _read(reply)
        bound = request.site or _origin(request.url)
        entries = _entries(root, request.url, bound)
        if etree.QName(root).localname == "urlset":
            links = tuple(
                Link(url=url, text=_path_words(url), context=day) for url, day in entries.items()
            )
            return Parsed(
                links=links[: self._max_links],
                total=len(links),
                note=_note(len(links), self._max_links),
            )
        return self._index(request, list(entries), bound)

    def _index(self, request: Request, urls: list[str], bound: str) -> Parsed:
        if request.depth >= _MAX_DEPTH:
            return Parsed(note="sitemap indexes nested too deeply")
        wanted = [
            self._request(url, "sitemap", site=bound, depth=request.depth + 1)
            for url in urls[:_MAX_SITEMAPS]
        ]
        return Parsed(requests=tuple(wanted), note=_note(len(urls), _MAX_SITEMAPS))

    def _request(
        self, url: str, kind: Any, *, site: str, depth: int, language: str = ""
    ) -> Request:
        return Request(
            url=url,
            adapter=self.name,
            source_id=self._config.id,
            kind=kind,
            accept_language=language,
            depth=depth,
            site=site,
        )


def _origin(url: str) -> str:
    """Return `scheme://host[:port]/`; the slash keeps `host.evil` out of a prefix match, default ports go."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    port = "" if parts.port in {None, _DEFAULT_PORTS.get(parts.scheme)} else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}/"


def _read(reply: Reply) -> Any:
    raw = (
        _unpacked(reply.body)
        if reply.body[:2] == b"\x1f\x8b"
        else reply.text.encode("utf-8", "replace")
    )
    text = raw.removeprefix(b"\xef\xbb\xbf").strip()
    text = re.sub(rb"^<\?xml[^>]{0,200}\?>", b"", text, count=1).lstrip()
    if not text.startswith(b"<"):
        _bad("plain text")
    if re.match(rb"(?i)<(?:!doctype\s+)?html\b", text):
        _bad("a page of HTML")
    return _parsed(text)


def _parsed(text: bytes) -> Any:
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        root = etree.fromstring(text, parser)
    except etree.XMLSyntaxError as error:
        raise BadReply("The source sent truncated or broken XML instead of a sitemap.") from error
    if root.getroottree().docinfo.internalDTD is not None:
        _bad("XML with a document type")
    if etree.QName(root).localname not in {"urlset", "sitemapindex"}:
        _bad("XML of another shape")
    return root


def _unpacked(packed: bytes) -> bytes:
    """Sitemaps are often stored as .gz; a bomb stops at the limit."""
    try:
        reader = zlib.decompressobj(wbits=31)
        plain = reader.decompress(packed, _MAX_UNPACKED_BYTES)
    except zlib.error as error:
        raise BadReply("The source sent a broken archive instead of a sitemap.") from error
    if reader.unconsumed_tail:
        _bad("an archive that unpacks to too much")
    return plain


def _bad(kind: str) -> NoReturn:
    raise BadReply(f"The source sent {kind} instead of a sitemap.")


def _entries(root: Any, base: str, bound: str) -> dict[str, str]:
    """Return address -> lastmod (may be empty), within the site, in the sitemap's order."""
    found: dict[str, str] = {}
    for entry in root.iterchildren("{*}url", "{*}sitemap"):
        url = _within((entry.findtext("{*}loc") or "").strip(), base, bound)
        if url:
            found.setdefault(url, (entry.findtext("{*}lastmod") or "").strip()[:10])
    return found


def _within(reference: str, base: str, bound: str) -> str:
    """Return the absolute address if it belongs to the site, else nothing."""
    if not reference:
        return ""
    try:
        url = urljoin(base, reference)
        inside = _origin(url) == _origin(bound)
    except ValueError:
        return ""
    return url.partition("#")[0] if inside else ""


def _path_words(url: str) -> str:
    """The words of the path are all a sitemap says about a page."""
    path = unquote(urlsplit(url).path).rsplit(".", 1)[0]
    return " ".join(_WORD.findall(path))


def _note(found: int, cap: int) -> str:
    return f"{found - cap} further entries left out" if found > cap else ""
