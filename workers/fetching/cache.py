"""How long a reply may be shared, and what makes two requests the same (RFC 9111 for a shared cache).

Only freshness is decided here; the frontier keeps the parsed, redacted replies. Without explicit freshness the
heuristic is a tenth of the age since Last-Modified (4.2.2), else the configured default; both only for statuses that
are cacheable by default (RFC 9110, 15.1). Everything is capped. What is fetched with a key, or by POST (9.3.3), is
never fresh, and a request with a key is its job's own; there are no cookies. So Authorization and Vary: Cookie cannot
make two callers' shared replies differ; Vary: * is never fresh.
"""

import re
from collections.abc import Mapping

import msgspec
from signal_search.contracts.source import Request
from signal_search.errors import Broken

from infra.ids import digest
from infra.settings import Cache
from workers.fetching.backoff import http_date_ms
from workers.fetching.url_guard import canonical

POLICY_VERSION = "3"
"""Raised whenever redaction or extraction change what is stored, so that no older reply is served as new."""

_DIRECTIVE = re.compile(r"([a-z0-9-]+)(?:\s*=\s*(?:\"([^\"]*)\"|([^\s,;]*)))?", re.IGNORECASE)
_HEURISTIC_STATUSES = frozenset({200, 203, 300, 301, 308, 404, 405, 410, 414, 501})
_EXPLICIT_STATUSES = _HEURISTIC_STATUSES | {302, 303, 307}
_HEURISTIC_SHARE = 0.1
_NEVER = frozenset({"no-store", "private", "no-cache"})
_ROOT_DOT = re.compile(r"\.(?=:\d+$|$)")
_MAX_AGE_S = 2**31  # RFC 9111, 1.2.2: larger values mean this


def fresh_ms(status: int, headers: Mapping[str, str], now_ms: int, limits: Cache) -> int:
    """Return for how many milliseconds a reply received at `now_ms` may be shared; 0 means not at all."""
    said = directives(headers.get("cache-control", ""))
    if status not in _EXPLICIT_STATUSES or _NEVER & said.keys() or _varies(headers):
        return 0
    life_s = _stated_life_s(said, headers, now_ms)
    if life_s is None:
        life_s = _heuristic_s(status, headers, now_ms, limits.default_ttl_s)
    left_s = min(life_s - _age_s(headers, now_ms), limits.max_ttl_s)
    return max(0, round(left_s * 1000))


def stated_life_s(headers: Mapping[str, str], now_ms: int) -> float | None:
    """Return the seconds a reply itself says it is fresh for, None when it says nothing."""
    return _stated_life_s(directives(headers.get("cache-control", "")), headers, now_ms)


def directives(value: str) -> dict[str, str]:
    """Return the directives of a Cache-Control value, names in lower case; of two the first (RFC 9111, 4.2.1)."""
    said: dict[str, str] = {}
    for name, quoted, plain in _DIRECTIVE.findall(value[:4096]):
        said.setdefault(name.lower(), quoted or plain)
    return said


def _varies(headers: Mapping[str, str]) -> bool:
    return "*" in headers.get("vary", "")


def _stated_life_s(
    said: Mapping[str, str], headers: Mapping[str, str], now_ms: int
) -> float | None:
    """Return s-maxage, else max-age, else Expires less Date (4.2.1); invalid values mean stale."""
    for name in ("s-maxage", "max-age"):
        if name in said:
            return seconds(said[name])
    if "expires" not in headers:
        return None
    expires_ms = http_date_ms(headers["expires"])
    date_ms = http_date_ms(headers.get("date", ""))
    sent_ms = now_ms if date_ms is None else date_ms
    return 0.0 if expires_ms is None else (expires_ms - sent_ms) / 1000


def _heuristic_s(status: int, headers: Mapping[str, str], now_ms: int, default_s: int) -> float:
    if status not in _HEURISTIC_STATUSES:
        return 0.0
    changed_ms = http_date_ms(headers.get("last-modified", ""))
    if changed_ms is None:
        return float(default_s)
    return max(0.0, (now_ms - changed_ms) / 1000 * _HEURISTIC_SHARE)


def _age_s(headers: Mapping[str, str], now_ms: int) -> float:
    """Return how old a reply was when it came: what caches say, and not less than its Date says (RFC 9111, 4.2.3)."""
    date_ms = http_date_ms(headers.get("date", ""))
    apparent_s = 0.0 if date_ms is None else (now_ms - date_ms) / 1000
    return max(0.0, apparent_s, seconds(headers.get("age", "0")))


def seconds(value: str) -> float:
    """Return a delta-seconds value (RFC 9111, 1.2.2), 0 when it is none."""
    text = value.strip()
    if not (text.isascii() and text.isdigit()):
        return 0.0
    return float(min(int(text[:12]), _MAX_AGE_S))


def fingerprint(request: Request, job_id: str = "") -> str:
    """Return what identical requests share: who parses it, in which language, under which policy, where and how.

    What an adapter makes of a reply depends on its source's row, what a site's start page brings on the site's bounds.
    A request with a key is shared with nobody: its fingerprint holds the job, and the name of the key, not its value.

    Raises:
        AddressRefused: the URL cannot be parsed.
        Broken: a request with a key, and no job.
    """
    if request.auth and not job_id:
        raise Broken
    return digest(
        canonical(request.url),
        request.accept_language,
        request.adapter,
        request.kind,
        POLICY_VERSION,
        "" if request.kind == "page" else request.source_id,
        "" if request.depth else request.site,
        request.method,
        request.body,
        msgspec.json.encode(request.headers, order="sorted").decode(),
        request.words,
        *((job_id, request.auth, request.auth_place) if request.auth else ()),
    )


def is_shareable(request: Request) -> bool:
    """Say whether a reply may be given to others at all, whatever its headers say."""
    return not request.auth and request.method == "GET"


def host_key(url: str) -> str:
    """Return the host whose pace a URL counts against: lower case, with a port that is not the scheme's own.

    `example.com.` is `example.com`: one server, and one pace.

    Raises:
        AddressRefused: the URL cannot be parsed.
    """
    rest = canonical(url).split("://", 1)[-1]
    authority = re.split(r"[/?]", rest, maxsplit=1)[0].rsplit("@", 1)[-1].lower()
    return _ROOT_DOT.sub("", authority)


def origin_of(url: str) -> str:
    """Return scheme://host[:port], the scope of one robots.txt (RFC 9309, 2.3).

    Raises:
        AddressRefused: the URL cannot be parsed.
    """
    return f"{canonical(url).split('://', 1)[0]}://{host_key(url)}"
