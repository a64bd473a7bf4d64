"""What must not be read in the log: values under secret names at any depth, and secrets inside texts."""

import re
from functools import lru_cache
from typing import Any

MASK = "***"

_SECRET_NAMES = re.compile(
    r"(?i)(authorization|cookie|password|passwd|secret|token|api[_-]?key|private[_-]?key)"
)
_SECRET_TEXT = (
    (re.compile(r"sst_[A-Za-z0-9_-]{8,}"), MASK),
    (re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}"), rf"\1 {MASK}"),
    (re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://)[^\s/@]+@"), rf"\1{MASK}@"),
    (
        re.compile(r"(?i)\b(api[_-]?key|access[_-]?token|key|token|sig|signature)=[^&\s\"']+"),
        rf"\1={MASK}",
    ),
)
_SIGNS = re.compile(
    r"[=:\s]"
)  # but for the first, each of these patterns needs one; ids and names have none
_MAY_HOLD_SECRET = re.compile(r"(?i)sst_|bearer|basic|://|=")  # what each of these patterns has


def masked(name: str, value: Any) -> Any:
    """Return a value of the log as it may be read under its name."""
    if value is None or isinstance(value, bool | int | float):  # `tokens=2000` is a count
        return value
    if _is_secret(name):
        return MASK
    if isinstance(value, str):
        return mask_text(value)
    if isinstance(value, dict):
        return {key: masked(str(key), each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [masked("", each) for each in value]
    return value


def mask_text(text: str) -> str:
    """Return `text` without bearer tokens, credentials in addresses and keys in query strings."""
    if ("sst_" in text or _SIGNS.search(text)) and _MAY_HOLD_SECRET.search(text):
        for pattern, replacement in _SECRET_TEXT:
            text = pattern.sub(replacement, text)
    return text


@lru_cache(maxsize=1024)  # the names of fields are few, and asked for with every event
def _is_secret(name: str) -> bool:
    return _SECRET_NAMES.search(name) is not None
