"""Who a document is: its content id, the site it belongs to, and which documents are the same work."""

from functools import lru_cache
from hashlib import blake2b
from urllib.parse import urlsplit

import tldextract

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
