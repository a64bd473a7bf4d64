"""Approvals: one person asks, another decides, once, within a day. An approval runs and publishes nothing."""

import hashlib
import json
import sqlite3
from datetime import timedelta
from typing import Any, Final

import msgspec
from msgspec import Struct
from signal_search.contracts.research import (
    ApprovalPackage,
    ApprovalStatus,
    Decision,
    MemoryKind,
    Risk,
)
from signal_search.errors import Conflict, Invalid, NotFound

from infra import ids
from workers.memory.store import MemoryStore, stamp, write_audit

LIFE: Final = timedelta(hours=24)  # memory guide
_COLUMNS: Final = "package_id, case_memory_id, requested_by, payload_hash, risk_level, status, created_at, expires_at"


class Asked(Struct, frozen=True):
    """A new package, and the token that its receipt must name; the token is shown this once."""

    package: ApprovalPackage
    receipt_token: str


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


class Approvals:
    """The approvals of one scope, in the file of its memories."""

    def __init__(self, store: MemoryStore) -> None:
        """Keep them beside the memories of `store`."""
        self._store = store

    def ask(self, case_id: str, payload: dict[str, Any], *, requester: str, risk: Risk) -> Asked:
        """Make a package that waits for a decision for 24 hours.

        Raises:
            Invalid: the requester is blank, the payload no JSON.
            NotFound: `memory_not_found`: no such case in this scope.
        """
        if not requester.strip():
            raise Invalid("Somebody must ask.", field="requested_by")
        if not isinstance(payload, dict):
            raise Invalid("The payload must be an object.", field="payload")
        if self._store.get(case_id).kind is not MemoryKind.RESEARCH_CASE:
            raise NotFound("There is no such case.", code="memory_not_found")
        now, token = self._store.now(), ids.receipt_token()
        package = ApprovalPackage(
            package_id=ids.record_id("pkg"),
            case_memory_id=case_id,
            scope=self._store.file.scope,
            requested_by=requester.strip(),
            payload_hash=payload_hash(payload),
            risk_level=risk,
            status=ApprovalStatus.PENDING,
            created_at=now,
            expires_at=now + LIFE,
        )
        with self._store.file.writing() as db:
            _insert(db, package, json.dumps(payload, sort_keys=True), token)
            details = {"package_id": package.package_id, "actor": package.requested_by}
            write_audit(db, case_id, "approval_package_saved", details, now=now)
        return Asked(package, token)

    def get(self, package_id: str) -> ApprovalPackage:
        """Return a package; one that waited too long is expired by now.

        Raises:
            NotFound: `package_not_found`.
        """
        with self._store.file.writing() as db:
            return self.current(db, package_id)

    def current(self, db: sqlite3.Connection, package_id: str) -> ApprovalPackage:
        """Return a package inside the caller's transaction, expired where its time is over; raises as `get`."""
        now = self._store.now()
        package = self._read(db, package_id)
        if package.status is ApprovalStatus.PENDING and package.expires_at <= now:
            _set_status(db, package_id, ApprovalStatus.EXPIRED)
            details = {"package_id": package_id}
            write_audit(db, package.case_memory_id, "approval_expired", details, now=now)
            return self._read(db, package_id)
        return package

    def decide(
        self, package_id: str, decision: Decision, *, approver: str, reason: str = ""
    ) -> ApprovalPackage:
        """Decide about a waiting package, once, as somebody else than who asked.

        Raises:
            Invalid: the approver is blank or the requester, or the decision neither of the two.
            NotFound: `package_not_found`. Conflict: `approval_expired`, `approval_decided`.
        """
        if not approver.strip() or decision not in {"approved", "rejected"}:
            raise Invalid("Somebody must decide, one way or the other.", field="approver_id")
        with self._store.file.writing() as db:
            package = self.current(db, package_id)
            if approver.strip().casefold() == package.requested_by.casefold():
                raise Invalid("Nobody approves what they asked for.", field="approver_id")
            if package.status is ApprovalStatus.PENDING:
                self._write(db, package, ApprovalStatus(decision), approver.strip(), reason)
                return self._read(db, package_id)
        if package.status is ApprovalStatus.EXPIRED:
            raise Conflict("The approval has expired.", code="approval_expired")
        raise Conflict("The approval is decided already.", code="approval_decided")

    def _write(
        self,
        db: sqlite3.Connection,
        package: ApprovalPackage,
        decided: ApprovalStatus,
        approver: str,
        reason: str,
    ) -> None:
        now = self._store.now()
        _set_status(db, package.package_id, decided)
        row = (package.package_id, decided.value, approver, reason, stamp(now))
        db.execute("INSERT INTO approval_decisions VALUES (?, ?, ?, ?, ?)", row)
        details = {"package_id": package.package_id, "actor": approver, "decision": decided.value}
        write_audit(db, package.case_memory_id, "approval_finalized", details, now=now)

    def _read(self, db: sqlite3.Connection, package_id: str) -> ApprovalPackage:
        sql = f"SELECT {_COLUMNS} FROM approval_packages WHERE package_id = ?"  # noqa: S608
        row = db.execute(sql, (package_id,)).fetchone()
        if row is None:
            raise NotFound("There is no such package.", code="package_not_found")
        names = _COLUMNS.split(", ")
        read = dict(zip(names, row, strict=True))
        return msgspec.convert({**read, "scope": self._store.file.scope}, ApprovalPackage)


def _insert(db: sqlite3.Connection, package: ApprovalPackage, payload: str, token: str) -> None:
    row = (
        *(
            package.package_id,
            package.case_memory_id,
            package.requested_by,
            payload,
            package.payload_hash,
        ),
        *(
            package.risk_level,
            package.status.value,
            stamp(package.created_at),
            stamp(package.expires_at),
        ),
        token,
    )
    db.execute("INSERT INTO approval_packages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)


def _set_status(db: sqlite3.Connection, package_id: str, status: ApprovalStatus) -> None:
    db.execute(
        "UPDATE approval_packages SET status = ? WHERE package_id = ? AND status = ?",
        (status.value, package_id, ApprovalStatus.PENDING.value),
    )
