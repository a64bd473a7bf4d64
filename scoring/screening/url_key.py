"""When two results are one source: a key that forgets `www.`, a last slash, trackers and what follows `#`.

Wider than `scoring.addresses`, on purpose: here two addresses are only shown as one, none of them is fetched.
"""

import re

import ada_url

_TRACKERS = re.compile(
    r"(?:utm_|pk_|mtm_)\w*|via|fpr|gclid|fbclid|mc_cid|mc_eid", re.ASCII | re.IGNORECASE
)
_POST_HOSTS = frozenset({"x.com", "twitter.com", "mobile.twitter.com", "mobile.x.com"})
_POST = re.compile(r"/(?:i/web|i|[^/]+)/status(?:es)?/([0-9]+)(?:/.*)?", re.ASCII)


def url_key(url: str) -> str:
    """Return the key of a web address, "" for what is none. Idempotent; case of path and query is kept."""
    if url.startswith("x:post:"):
        return url
    try:
        parts = ada_url.URL(url)
    except ValueError:
        return ""
    if parts.protocol not in {"http:", "https:"}:
        return ""
    host = _without_www(parts.hostname)
    post = _POST.fullmatch(parts.pathname) if host in _POST_HOSTS else None
    if post is not None:
        return f"x:post:{post[1]}"
    port = f":{parts.port}" if parts.port else ""
    kept = [each for each in parts.search[1:].split("&") if each and not _is_tracker(each)]
    query = f"?{'&'.join(kept)}" if kept else ""
    return f"{parts.protocol}//{host}{port}{parts.pathname.rstrip('/')}{query}"


def _without_www(host: str) -> str:
    """Return a host without `www.` in front, as long as what is left is one."""
    while host.startswith("www.") and "." in host[4:].strip("."):
        host = host[4:]
    return host


def _is_tracker(pair: str) -> bool:
    return _TRACKERS.fullmatch(pair.split("=", 1)[0]) is not None
