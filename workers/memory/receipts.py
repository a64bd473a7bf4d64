"""Receipts: what came of an approved package, told once. A receipt runs and publishes nothing; it is only kept."""

import hashlib
import hmac
import json
import re
import sqlite3
from typing import Any, Final

import msgspec
from msgspec import Struct
from signal_search.contracts.research import (
    ApprovalPackage,
    ApprovalStatus,
    Outcome,
    VerificationRun,
)
from signal_search.errors import Conflict, Invalid, NotFound

from infra import ids
from workers.memory.approvals import Approvals
from workers.memory.store import MemoryStore, stamp, write_audit

_NEEDED: Final = frozenset({"environment", "verification_summary", "evidence_refs"})
_ALLOWED: Final = _NEEDED | {"assertions", "log_summary"}
_MOST_LOG: Final = 4096  # characters (memory guide)
_KEY_WORDS: Final = (
    *(
        "apikey",
        "accesskey",
        "authorization",
        "credential",
        "bearer",
        "token",
        "password",
        "secret",
    ),
    "privatekey",
)
_SAID: Final = re.compile(
    r"bearer\s+\S|(?:api[-_ ]?key|access[-_ ]?key|authorization|credential|token|password|secret|private[-_ ]?key)"
    r"\s*[:=]\s*\S",
    re.IGNORECASE,
)
_COLUMNS: Final = "run_id, package_id, case_memory_id, payload_hash, receipt_id, event_key, receipt, status, created_at"


class Receipt(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A receipt as it is handed in: whose it is proved by hash and token, and what it says."""

    package_id: str
    case_memory_id: str
    payload_hash: str
    receipt_token: str
    receipt_id: str
    status: Outcome
    receipt: dict[str, Any]


def event_key(package_id: str, receipt_token: str, receipt_id: str) -> str:
    """Return the SHA-256 hex digest of the three as a compact JSON array: the name of this very event."""
    text = json.dumps(
        [package_id, receipt_token, receipt_id], ensure_ascii=False, separators=(",", ":")
    )
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


def _has_credential(value: object) -> bool:
    if isinstance(value, dict):
        return any(_is_key(key) or _has_credential(each) for key, each in value.items())
    if isinstance(value, list | tuple):
        return any(_has_credential(each) for each in value)
    return isinstance(value, str) and bool(_SAID.search(value))


def _is_key(name: object) -> bool:
    plain = "".join(each for each in str(name).lower() if each.isalnum())
    return any(word in plain for word in _KEY_WORDS)


class Receipts:
    """The receipts of one scope, in the file of its memories."""

    def __init__(self, store: MemoryStore) -> None:
        """Keep them beside the memories of `store`."""
        self._store = store
        self._approvals = Approvals(store)

    def take(self, given: Receipt) -> VerificationRun:
        """Keep a receipt of an approved, unexpired package; the same one again is the same run.

        Raises:
            NotFound: `package_not_found`. Invalid: it does not fit its package, or its content is refused.
            Conflict: `approval_missing`, `approval_expired`; `receipt_conflict`: this event said something else before.
        """
        refused: Conflict | None = None
        with self._store.file.writing() as db:
            package = self._approvals.current(db, given.package_id)
            self._check(db, package, given)
            key = event_key(given.package_id, given.receipt_token, given.receipt_id)
            known = self._find(db, "event_key", key)
            if known is not None:
                return _same(known, given)
            refused = self._refusal(package)
            if refused is None:
                return self._write(db, given, key)
        raise refused

    def get(self, run_id: str) -> VerificationRun:
        """Return a run.

        Raises:
            NotFound: `run_not_found`.
        """
        with self._store.file.reading() as db:
            found = None if db is None else self._find(db, "run_id", run_id)
        if found is None:
            raise NotFound("There is no such run.", code="run_not_found")
        return found

    def _check(self, db: sqlite3.Connection, package: ApprovalPackage, given: Receipt) -> None:
        sql = "SELECT receipt_token FROM approval_packages WHERE package_id = ?"
        token = db.execute(sql, (package.package_id,)).fetchone()[0]
        if given.case_memory_id != package.case_memory_id:
            raise Invalid("The receipt is of another case.", field="case_memory_id")
        if not hmac.compare_digest(given.payload_hash.encode(), package.payload_hash.encode()):
            raise Invalid("The receipt is of another payload.", field="payload_hash")
        if not hmac.compare_digest(given.receipt_token.encode(), token.encode()):
            raise Invalid("The receipt's token is not the package's.", field="receipt_token")
        if given.status not in {"passed", "failed", "blocked"} or not given.receipt_id.strip():
            raise Invalid("The receipt has no final status or no id.", field="status")
        check_content(given.receipt)

    def _refusal(self, package: ApprovalPackage) -> Conflict | None:
        now = self._store.now()
        if package.status is ApprovalStatus.EXPIRED or package.expires_at <= now:
            return Conflict("The approval has expired.", code="approval_expired")
        if package.status is not ApprovalStatus.APPROVED:
            return Conflict("The package is not approved.", code="approval_missing")
        return None

    def _write(self, db: sqlite3.Connection, given: Receipt, key: str) -> VerificationRun:
        now = self._store.now()
        text = json.dumps(given.receipt, sort_keys=True, ensure_ascii=False)
        run_id = ids.record_id("run")
        row = (
            *(run_id, given.package_id, given.case_memory_id, given.payload_hash, given.receipt_id),
            *(key, text, given.status, stamp(now)),
        )
        db.execute("INSERT INTO verification_runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        details = {"package_id": given.package_id, "run_id": run_id, "status": given.status}
        write_audit(
            db, given.case_memory_id, "verification_finalized", details, now=now, event_key=key
        )
        made = self._find(db, "event_key", key)
        if made is None:
            raise NotFound("There is no such run.", code="run_not_found")
        return made

    def _find(self, db: sqlite3.Connection, column: str, value: str) -> VerificationRun | None:
        sql = f"SELECT {_COLUMNS} FROM verification_runs WHERE {column} = ?"  # noqa: S608  a name of ours
        row = db.execute(sql, (value,)).fetchone()
        if row is None:
            return None
        read = dict(zip(_COLUMNS.split(", "), row, strict=True))
        content = msgspec.json.decode(read["receipt"])
        return msgspec.convert(
            {**read, "receipt": content, "scope": self._store.file.scope}, VerificationRun
        )


def _same(known: VerificationRun, given: Receipt) -> VerificationRun:
    if (known.status, known.receipt) != (given.status, given.receipt):
        raise Conflict("This receipt said something else before.", code="receipt_conflict")
    return known
