"""Approvals: one person asks, another decides, once, within a day. An approval runs and publishes nothing."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct, structs
from signal_search.contracts.research import (
    ApprovalPackage,
    ApprovalStatus,
    Decision,
    MemoryKind,
    Risk,
)
from signal_search.errors import Conflict, Invalid, NotFound
from signal_search.receipts import payload_hash, token_digest

from infra import ids
from workers.memory.store import MemoryStore, has_event, stamp, write_audit

LIFE: Final = timedelta(hours=24)  # memory guide
COLUMNS: Final = "package_id, case_memory_id, requested_by, payload_hash, risk_level, status, created_at, expires_at"
_FIELDS: Final = COLUMNS.replace("requested_by", "requester_id").split(", ")


class Asked(Struct, frozen=True):
    """A new package, and the token that its receipt must name; the token is shown this once."""

    package: ApprovalPackage
    receipt_token: str


class _Decided(NamedTuple):
    status: ApprovalStatus
    approver: str
    reason: str
    event_key: str


class Approvals:
    """The approvals of one scope, in the file of its memories."""

    def __init__(self, store: MemoryStore) -> None:
        """Keep them beside the memories of `store`."""
        self._store = store

    def ask(self, case_id: str, payload: dict[str, Any], *, requester: str, risk: Risk) -> Asked:
        """Make a package that waits for a decision for 24 hours, and the token that its receipt must name.

        Raises:
            Invalid: the requester is blank, the payload no JSON.
            NotFound: `memory_not_found`: no such case in this scope.
        """
        token = ids.receipt_token()
        digest = token_digest(token)
        return Asked(
            self.ask_sealed(case_id, payload, digest, requester=requester, risk=risk), token
        )

    def ask_sealed(
        self,
        case_id: str,
        payload: dict[str, Any],
        digest: str,
        *,
        requester: str,
        risk: Risk,
        package_id: str = "",
    ) -> ApprovalPackage:
        """Make a package whose token has this digest; the same `package_id` again is the package that is there.

        Raises:
            Invalid, NotFound: as `ask`.
        """
        if not requester.strip():
            raise Invalid("Somebody must ask.", field="requester_id")
        if not isinstance(payload, dict):
            raise Invalid("The payload must be an object.", field="payload")
        hashed = payload_hash(payload)
        if self._store.get(case_id).kind is not MemoryKind.RESEARCH_CASE:
            raise NotFound("There is no such case.", code="memory_not_found")
        package = self._waiting(case_id, hashed, requester.strip(), risk)
        if package_id:
            package = structs.replace(package, package_id=package_id)
        with self._store.file.writing() as db:
            if _is_there(db, package.package_id):
                return self.current(db, package.package_id)
            _insert(db, package, json.dumps(payload, sort_keys=True), digest)
            details = {"package_id": package.package_id, "actor": package.requester_id}
            write_audit(db, case_id, "approval_package_saved", details, now=package.created_at)
        return package

    def _waiting(self, case_id: str, hashed: str, requester: str, risk: Risk) -> ApprovalPackage:
        now = self._store.now()
        return ApprovalPackage(
            package_id=ids.record_id("pkg"),
            case_memory_id=case_id,
            scope=self._store.file.scope,
            requester_id=requester,
            payload_hash=hashed,
            risk_level=risk,
            status=ApprovalStatus.PENDING,
            created_at=now,
            expires_at=now + LIFE,
        )

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
        self,
        package_id: str,
        decision: Decision,
        *,
        approver: str,
        reason: str = "",
        event_key: str = "",
    ) -> ApprovalPackage:
        """Decide about a waiting package, once, as somebody else than who asked; the same `event_key` decides once.

        Raises:
            Invalid: the approver is blank or the requester, or the decision neither of the two.
            NotFound: `package_not_found`. Conflict: `approval_expired`, `approval_decided`.
        """
        if not approver.strip() or decision not in {"approved", "rejected"}:
            raise Invalid("Somebody must decide, one way or the other.", field="approver_id")
        with self._store.file.writing() as db:
            package = self.current(db, package_id)
            if event_key and has_event(db, package.case_memory_id, event_key):
                return package
            if approver.strip().casefold() == package.requester_id.casefold():
                raise Invalid("Nobody approves what they asked for.", field="approver_id")
            if package.status is ApprovalStatus.PENDING:
                said = _Decided(ApprovalStatus(decision), approver.strip(), reason, event_key)
                self._write(db, package, said)
                return self._read(db, package_id)
        if package.status is ApprovalStatus.EXPIRED:
            raise Conflict("The approval has expired.", code="approval_expired")
        raise Conflict("The approval is decided already.", code="approval_decided")

    def _write(self, db: sqlite3.Connection, package: ApprovalPackage, said: _Decided) -> None:
        now, key = self._store.now(), said.event_key
        _set_status(db, package.package_id, said.status)
        row = (package.package_id, said.status.value, said.approver, said.reason, stamp(now))
        db.execute("INSERT INTO approval_decisions VALUES (?, ?, ?, ?, ?)", row)
        details = {
            "package_id": package.package_id,
            "actor": said.approver,
            "decision": said.status.value,
        }
        write_audit(
            db, package.case_memory_id, "approval_finalized", details, now=now, event_key=key
        )

    def _read(self, db: sqlite3.Connection, package_id: str) -> ApprovalPackage:
        sql = f"SELECT {COLUMNS} FROM approval_packages WHERE package_id = ?"  # noqa: S608
        row = db.execute(sql, (package_id,)).fetchone()
        if row is None:
            raise NotFound("There is no such package.", code="package_not_found")
        return self.read(row)

    def read(self, row: Sequence[Any]) -> ApprovalPackage:
        """Return the package in a row of `COLUMNS`."""
        read = dict(zip(_FIELDS, row, strict=True))
        return msgspec.convert({**read, "scope": self._store.file.scope}, ApprovalPackage)


def _is_there(db: sqlite3.Connection, package_id: str) -> bool:
    sql = "SELECT 1 FROM approval_packages WHERE package_id = ?"
    return db.execute(sql, (package_id,)).fetchone() is not None


def _insert(db: sqlite3.Connection, package: ApprovalPackage, payload: str, digest: str) -> None:
    row = (
        *(
            package.package_id,
            package.case_memory_id,
            package.requester_id,
            payload,
            package.payload_hash,
        ),
        *(
            package.risk_level,
            package.status.value,
            stamp(package.created_at),
            stamp(package.expires_at),
        ),
        digest,
    )
    db.execute("INSERT INTO approval_packages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)


def _set_status(db: sqlite3.Connection, package_id: str, status: ApprovalStatus) -> None:
    db.execute(
        "UPDATE approval_packages SET status = ? WHERE package_id = ? AND status = ?",
        (status.value, package_id, ApprovalStatus.PENDING.value),
    )
