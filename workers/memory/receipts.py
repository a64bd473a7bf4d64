"""Receipts: what came of an approved package, told once. A receipt runs and publishes nothing; it is only kept."""

import hmac
import json
import sqlite3
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from signal_search.contracts.memory import Receipt, TakeReceipt
from signal_search.contracts.research import ApprovalPackage, ApprovalStatus, VerificationRun
from signal_search.errors import Conflict, Invalid, NotFound
from signal_search.receipts import check_content, sealed

from infra import ids
from workers.memory.approvals import Approvals
from workers.memory.store import MemoryStore, stamp, write_audit

COLUMNS: Final = "run_id, package_id, case_memory_id, payload_hash, receipt_id, event_key, receipt, status, created_at"


class Receipts:
    """The receipts of one scope, in the file of its memories."""

    def __init__(self, store: MemoryStore) -> None:
        """Keep them beside the memories of `store`."""
        self._store = store
        self._approvals = Approvals(store)

    def take(self, given: Receipt) -> VerificationRun:
        """Keep a receipt that names its token; raises as `take_sealed`."""
        return self.take_sealed(sealed(given, self._store.file.scope))

    def take_sealed(self, given: TakeReceipt) -> VerificationRun:
        """Keep a receipt of an approved, unexpired package; the same one again is the same run.

        Raises:
            NotFound: `package_not_found`. Invalid: it does not fit its package, or its content is refused.
            Conflict: `approval_missing`, `approval_expired`; `receipt_conflict`: this event said something else before.
        """
        refused: Conflict | None = None
        with self._store.file.writing() as db:
            package = self._approvals.current(db, given.package_id)
            self._check(db, package, given)
            known = self._find(db, "event_key", given.event_key)
            if known is not None:
                return _same(known, given)
            refused = self._refusal(package)
            if refused is None:
                return self._write(db, given)
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

    def _check(self, db: sqlite3.Connection, package: ApprovalPackage, given: TakeReceipt) -> None:
        sql = "SELECT receipt_token FROM approval_packages WHERE package_id = ?"  # its digest
        digest = db.execute(sql, (package.package_id,)).fetchone()[0]
        if given.case_memory_id != package.case_memory_id:
            raise Invalid("The receipt is of another case.", field="case_memory_id")
        if not hmac.compare_digest(given.payload_hash.encode(), package.payload_hash.encode()):
            raise Invalid("The receipt is of another payload.", field="payload_hash")
        if not hmac.compare_digest(given.token_digest.encode(), digest.encode()):
            raise Invalid("The receipt's token is not the package's.", field="receipt_token")
        if given.status not in {"passed", "failed", "blocked"}:
            raise Invalid("The receipt has no final status.", field="status")
        check_content(given.receipt)

    def _refusal(self, package: ApprovalPackage) -> Conflict | None:
        now = self._store.now()
        if package.status is ApprovalStatus.EXPIRED or package.expires_at <= now:
            return Conflict("The approval has expired.", code="approval_expired")
        if package.status is not ApprovalStatus.APPROVED:
            return Conflict("The package is not approved.", code="approval_missing")
        return None

    def _write(self, db: sqlite3.Connection, given: TakeReceipt) -> VerificationRun:
        now, key = self._store.now(), given.event_key
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
        sql = f"SELECT {COLUMNS} FROM verification_runs WHERE {column} = ?"  # noqa: S608  a name of ours
        row = db.execute(sql, (value,)).fetchone()
        if row is None:
            return None
        return self.read(row)

    def read(self, row: Sequence[Any]) -> VerificationRun:
        """Return the run in a row of `COLUMNS`."""
        read = dict(zip(COLUMNS.split(", "), row, strict=True))
        content = msgspec.json.decode(read["receipt"])
        return msgspec.convert(
            {**read, "receipt": content, "scope": self._store.file.scope}, VerificationRun
        )


def _same(known: VerificationRun, given: TakeReceipt) -> VerificationRun:
    if (known.status, known.receipt) != (given.status, given.receipt):
        raise Conflict("This receipt said something else before.", code="receipt_conflict")
    return known
