"""Who a document is: its content id, the site it belongs to, and which documents are the same work."""

import re
from functools import lru_cache
from hashlib import blake2b
from urllib.parse import unquote, urlsplit

import tldextract
from signal_search.contracts.document import Document

from scoring.addresses import address_key

# The bundled public suffix list only: no download, no cache folder.
_extract = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)


def document_id(url: str, text: str) -> str:
    """Return the BLAKE2b-128 hex digest of a document's address and text."""
    state = blake2b(digest_size=16)
    for part in (url, text):
        raw = part.encode("utf-8", "surrogatepass")
        state.update(len(raw).to_bytes(8, "big"))
        state.update(raw)
    return state.hexdigest()


@lru_cache(maxsize=4096)
def site_of(url: str) -> str:
    """Return the registrable domain of a URL; for addresses and single labels the host (with a given port).

    `https://news.example.co.uk/x` gives `example.co.uk`, `http://127.0.0.1:8000/` gives `127.0.0.1:8000`.
    """
    parts = urlsplit(url if "//" in url else f"//{url}")
    host = (parts.hostname or "").rstrip(".")
    found = _extract(host).top_domain_under_public_suffix
    return found or (f"{host}:{parts.port}" if parts.port else host)


# --- works ------------------------------------------------------------------------------------------------------------

# A DOI of arXiv's own prefix names the same work as the arXiv id.
_ARXIV_DOI = "10.48550/arxiv."
_DOI_PREFIX = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)
_ARXIV_PREFIX = re.compile(
    r"^(?:https?://(?:(?:www\.|export\.)?arxiv\.org|ar5iv(?:\.labs\.arxiv)?\.org)/(?:abs|pdf|html)/|arxiv:\s*)",
    re.IGNORECASE,
)
_VERSION = re.compile(r"(?:v\d+)?(?:\.pdf)?$", re.IGNORECASE)


def normal_doi(doi: str) -> str:
    """Return a DOI in lower case without resolver, scheme, percent-encoding, last full stop or surrounding space."""
    return unquote(_DOI_PREFIX.sub("", doi.strip())).rstrip(".").lower()


def normal_arxiv(arxiv_id: str) -> str:
    """Return an arXiv id without scheme and version: all versions are one work."""
    return _VERSION.sub("", _ARXIV_PREFIX.sub("", arxiv_id.strip())).lower()


def work_keys(document: Document) -> frozenset[str]:
    """Return the keys under which a document's work is known; two documents with a key in common are one work."""
    doi, arxiv = normal_doi(document.doi), normal_arxiv(document.arxiv_id)
    if doi.startswith(_ARXIV_DOI):
        doi, arxiv = "", arxiv or normal_arxiv(doi.removeprefix(_ARXIV_DOI))
    address = address_key(document.url)
    keys = {address if address.startswith(("doi:", "arxiv:")) else f"url:{address}"}
    return frozenset(
        keys | ({f"doi:{doi}"} if doi else set()) | ({f"arxiv:{arxiv}"} if arxiv else set())
    )
