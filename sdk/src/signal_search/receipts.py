"""Receipts of research memory, as arithmetic: what may be in one, and the digests that name and prove it.

The same here, at the door and at the files, so that a receipt which nobody may keep is refused before it is written
anywhere, and so that a caller can work out what is compared.
"""

import hashlib
import json
import re
from typing import Any, Final

from signal_search.contracts.memory import Receipt, TakeReceipt
from signal_search.contracts.research import ScopeKey
from signal_search.errors import Invalid

_NEEDED: Final = frozenset({"environment", "verification_summary", "evidence_refs"})
_ALLOWED: Final = _NEEDED | {"assertions", "log_summary"}
_MOST_LOG: Final = 4096  # characters (memory guide)
_KEY_WORDS: Final = (
    *("apikey", "accesskey", "authorization", "credential", "bearer"),
    *("token", "password", "secret", "privatekey"),
)
_SAID: Final = re.compile(
    r"bearer\s+\S|(?:api[-_ ]?key|access[-_ ]?key|authorization|credential|token|password|secret|private[-_ ]?key)"
    r"\s*[:=]\s*\S",
    re.IGNORECASE,
)


def token_digest(token: str) -> str:
    """Return the SHA-256 hex digest of a receipt's token: all of it that is ever kept."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def event_key(package_id: str, receipt_token: str, receipt_id: str) -> str:
    """Return the SHA-256 hex digest of the three as a compact JSON array: the name of this very event."""
    text = json.dumps(
        [package_id, receipt_token, receipt_id], ensure_ascii=False, separators=(",", ":")
    )
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def payload_hash(payload: dict[str, Any]) -> str:
    """Return the SHA-256 hex digest of a payload as ASCII JSON, compact, with sorted keys.

    Raises:
        Invalid: the payload is no JSON.
    """
    try:
        text = json.dumps(payload, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (ValueError, TypeError, RecursionError) as error:
        raise Invalid("The payload is not JSON.", field="payload") from error
    return hashlib.sha256(text.encode()).hexdigest()


def check_content(receipt: object) -> None:
    """Refuse content with other fields, without the needed ones, or with what looks like a credential, at any depth.

    Raises:
        Invalid: as said, field `receipt`.
    """
    if not isinstance(receipt, dict) or not set(receipt) <= _ALLOWED:
        raise Invalid("The receipt has fields that it may not have.", field="receipt")
    if any(not receipt.get(name) for name in _NEEDED):
        raise Invalid("The receipt lacks a field.", field="receipt")
    log = receipt.get("log_summary")
    if isinstance(log, str) and len(log) > _MOST_LOG:
        raise Invalid("The summary of the log is too long.", field="receipt")
    if _has_credential(receipt):
        raise Invalid("The receipt has what looks like a credential.", field="receipt")


def sealed(given: Receipt, scope: ScopeKey) -> TakeReceipt:
    """Return the command that keeps a receipt: with digests in place of its token.

    Raises:
        Invalid: as `check_content`; `receipt_id`: it is blank.
    """
    if not given.receipt_id.strip():
        raise Invalid("The receipt has no id.", field="receipt_id")
    check_content(given.receipt)
    return TakeReceipt(
        scope=scope,
        package_id=given.package_id,
        case_memory_id=given.case_memory_id,
        payload_hash=given.payload_hash,
        token_digest=token_digest(given.receipt_token),
        receipt_id=given.receipt_id,
        event_key=event_key(given.package_id, given.receipt_token, given.receipt_id),
        status=given.status,
        receipt=given.receipt,
    )


def _has_credential(value: object) -> bool:
    if isinstance(value, dict):
        return any(_is_key(key) or _has_credential(each) for key, each in value.items())
    if isinstance(value, list | tuple):
        return any(_has_credential(each) for each in value)
    return isinstance(value, str) and bool(_SAID.search(value))


def _is_key(name: object) -> bool:
    plain = "".join(each for each in str(name).lower() if each.isalnum())
    return any(word in plain for word in _KEY_WORDS)
