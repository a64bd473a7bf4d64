"""When two hits are one: the same DOI, the same arXiv id, or the same page by a key that folds more than `address_key`.

Services write one page with http or https, with and without `www.`, as its mobile or AMP form, with and without a last
slash. For showing a page once that is one page; the address that is shown stays as written.
"""

import re
from urllib.parse import urlsplit, urlunsplit

from signal_search.contracts.hit import Hit

from scoring.addresses import address_key
from scoring.identity import normal_arxiv, normal_doi

_ARXIV_DOI = "10.48550/arxiv."
# `www.`, and the hosts of mobile and AMP forms: m.example.com, en.m.wikipedia.org, amp.example.com.
_FORM_OF_HOST = re.compile(r"^(?:www|m|mobile|amp)\d?\.(?=[^.]+\.)|(?<=\.)m\.(?=[^.]+\.)")
_AMP_CACHE = re.compile(r"/amp/(?:s/)?([a-z0-9.-]+\.[a-z]{2,}/.*)", re.IGNORECASE)
_AMP_PATH = re.compile(r"(?:/amp/?|\.amp(?=(?:\.html?)?$))$|\.amp(?=\.html?$)", re.IGNORECASE)
_AMP_QUERY = re.compile(r"(?:amp|outputtype)(?:=(?:1|true|amp))?", re.IGNORECASE)


def page_key(url: str) -> str:
    """Return the key of the page behind an address: an https address, `doi:...` or `arxiv:...`. Idempotent."""
    key = address_key(url)
    if not key.startswith(("http://", "https://")):
        return key
    parts = urlsplit(key)
    cached = _AMP_CACHE.match(parts.path) if parts.hostname in _AMP_HOSTS else None
    if cached:
        return page_key(f"https://{cached[1]}")
    query = "&".join(each for each in parts.query.split("&") if not _AMP_QUERY.fullmatch(each))
    path = _AMP_PATH.sub("", parts.path).rstrip("/")
    fragment = parts.fragment if parts.fragment.startswith("!") else ""
    return urlunsplit(("https", _host(parts.netloc), path, query, fragment))


_AMP_HOSTS = frozenset({"www.google.com", "google.com"})


def _host(netloc: str) -> str:
    while (bare := _FORM_OF_HOST.sub("", netloc, count=1)) != netloc:
        netloc = bare
    return netloc


def hit_keys(hit: Hit) -> tuple[str, ...]:
    """Return the keys under which a hit is known, its page's first; two hits with a key in common are one."""
    doi, arxiv = normal_doi(hit.doi), normal_arxiv(hit.arxiv_id)
    if doi.startswith(_ARXIV_DOI):
        doi, arxiv = "", arxiv or normal_arxiv(doi.removeprefix(_ARXIV_DOI))
    keys = (page_key(hit.url) if hit.url else "", doi and f"doi:{doi}", arxiv and f"arxiv:{arxiv}")
    return tuple(dict.fromkeys(each for each in keys if each))
