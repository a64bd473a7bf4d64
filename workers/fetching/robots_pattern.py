"""Patterns of robots.txt against URLs: both percent-normalised, octet by octet (RFC 9309, 2.2.2 and 2.2.3)."""

import re

_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ODD = re.compile(rb"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~/?:@!&'()+,;=\[\]%]")


def normal_path(url: str) -> str:
    """Return path and query, percent-normalised; `*` and `$` are literals in a URL."""
    rest = url.split("#", 1)[0]
    if "://" in rest:
        rest = rest.split("://", 1)[1]
        start = min((at for at in (rest.find("/"), rest.find("?")) if at >= 0), default=len(rest))
        rest = rest[start:]
    path = rest if rest.startswith("/") else f"/{rest}"
    return _ODD.sub(_percent, path.encode("utf-8", "surrogatepass")).decode()


def normal_pattern(value: bytes) -> str:
    """Return a rule's pattern normalised like a URL, but with `*` and a final `$` kept as operators."""
    end = b"$" if value.endswith(b"$") else b""
    parts = value.removesuffix(b"$").split(b"*")
    return b"*".join(_ODD.sub(_percent, part) for part in parts).decode() + end.decode()


def _percent(found: re.Match[bytes]) -> bytes:
    raw = found[0]
    code = int(raw[1:], 16) if len(raw) == 3 else raw[0]
    if len(raw) == 3 and code in _UNRESERVED:
        return bytes((code,))
    return b"%%%02X" % code


def matches(pattern: str, path: str) -> bool:
    """Match by finding each part between stars in turn: no backtracking, so time stays linear."""
    anchored = pattern.endswith("$")
    first, *rest = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    if not rest:
        return not anchored or len(path) == len(first)
    return _matches_rest(rest, path, len(first), anchored=anchored)


def _matches_rest(parts: list[str], path: str, start: int, *, anchored: bool) -> bool:
    for part in parts[:-1]:
        found = path.find(part, start)
        if found < 0:
            return False
        start = found + len(part)
    last = parts[-1]
    if anchored:
        return len(path) - len(last) >= start and path.endswith(last)
    return path.find(last, start) >= 0
