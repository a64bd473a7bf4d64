"""Identifiers: sortable job ids, random tokens and content hashes. The only module that draws random bytes."""

import secrets
from hashlib import blake2b

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no i, l, o, u
_JOB_RANDOM_BITS = 80


def _base32(value: int, length: int) -> str:
    digits = []
    for _ in range(length):
        value, digit = divmod(value, 32)
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))


def job_id(now_ms: int) -> str:
    """Return a new job id: `job_`, ten characters of time and sixteen of chance; sorts by creation time."""
    return f"job_{_base32(now_ms, 10)}{_base32(secrets.randbits(_JOB_RANDOM_BITS), 16)}"


def request_id() -> str:
    """Return a new request id."""
    return f"req_{secrets.token_hex(12)}"


def secret_token() -> str:
    """Return a new bearer token with 256 random bits."""
    return f"sst_{secrets.token_urlsafe(32)}"


def record_id(kind: str) -> str:
    """Return a new id of a record: its kind and 96 random bits."""
    return f"{kind}_{secrets.token_hex(12)}"


def receipt_token() -> str:
    """Return a new token that a receipt must name: 256 random bits as hex."""
    return secrets.token_hex(32)


def digest(*parts: str | bytes) -> str:
    """Return the BLAKE2b-128 hex digest of the parts, each delimited by its length."""
    state = blake2b(digest_size=16)
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        state.update(len(raw).to_bytes(8, "big"))
        state.update(raw)
    return state.hexdigest()
