"""The life of a memory, approvals and receipts: every pair of states, every refusal, every line of the audit."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from signal_search.contracts.memory import Receipt
from signal_search.contracts.research import ApprovalStatus, MemoryKind, MemoryStatus
from signal_search.errors import Conflict, Invalid, NotFound

from tests.fakes.research import Shelf, a_memory, a_scope
from workers.memory.approvals import Approvals, Asked
from workers.memory.receipts import Receipts
from workers.memory.store import MemoryStore, stamp

SCOPE = a_scope()
S = MemoryStatus
# Written down from the memory guide's words, not from the table: how to come to each state, and where from there.
WAYS = {
    S.CANDIDATE: [],
    S.VERIFIED: [S.VERIFIED],
    S.PUBLISHED: [S.VERIFIED, S.PUBLISHED],
    S.DEPRECATED: [S.VERIFIED, S.PUBLISHED, S.DEPRECATED],
    S.EXPIRED: [S.VERIFIED, S.PUBLISHED, S.EXPIRED],
    S.CONFLICT: [S.VERIFIED, S.PUBLISHED, S.CONFLICT],
    S.REVOKED: [S.REVOKED],
}
ALLOWED = {
    (S.CANDIDATE, S.VERIFIED),
    (S.VERIFIED, S.PUBLISHED),
    (S.PUBLISHED, S.DEPRECATED),
    (S.PUBLISHED, S.EXPIRED),
    (S.PUBLISHED, S.CONFLICT),
    (S.DEPRECATED, S.VERIFIED),
    (S.EXPIRED, S.VERIFIED),
    (S.CONFLICT, S.VERIFIED),
    *((each, S.REVOKED) for each in S if each is not S.REVOKED),
}


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


@pytest.fixture
def store(shelf: Shelf) -> MemoryStore:
    return shelf.store(SCOPE)


@pytest.mark.parametrize("start", list(S))
@pytest.mark.parametrize("to", list(S))
def test_every_pair_of_states(store: MemoryStore, start: S, to: S) -> None:
    store.save(a_memory("m", "alpha", SCOPE), actor="ann")
    for step in WAYS[start]:
        store.move("m", step, actor="ann")
    if (start, to) in ALLOWED:
        assert store.move("m", to, actor="ann").status is to
        assert store.audit("m")[-1].details == {
            "actor": "ann",
            "from": start,
            "to": to,
            "reason": "",
        }
        found = [each.memory_id for each in store.find_published("alpha")]
        assert found == (["m"] if to is S.PUBLISHED else [])
        return
    lines = len(store.audit("m"))
    with pytest.raises(Conflict) as refused:
        store.move("m", to, actor="ann")
    assert refused.value.code == "transition_refused"
    assert (store.get("m").status, len(store.audit("m"))) == (start, lines)


def test_saving_can_neither_publish_nor_revive_nor_change_what_is_settled(
    store: MemoryStore,
) -> None:
    memory = a_memory("m", "alpha", SCOPE, status=S.PUBLISHED)
    assert store.save(memory, actor="ann").status is S.CANDIDATE
    assert store.list_published() == []
    store.move("m", S.VERIFIED, actor="ann")
    assert store.save(memory, actor="ann").status is S.CANDIDATE  # a new text is verified anew
    store.move("m", S.VERIFIED, actor="ann")
    store.move("m", S.PUBLISHED, actor="ann")
    for _ in (S.PUBLISHED, S.REVOKED):
        with pytest.raises(Conflict) as refused:
            store.save(memory, actor="ann")
        assert refused.value.code == "memory_settled"
        if store.get("m").status is S.PUBLISHED:
            store.move("m", S.REVOKED, actor="ann")


def test_the_same_event_again_changes_nothing(store: MemoryStore) -> None:
    store.save(a_memory("m", "alpha", SCOPE), actor="ann")
    first = store.move("m", S.VERIFIED, actor="ann", event_key="e1")
    again = store.move("m", S.VERIFIED, actor="ann", event_key="e1")
    assert first == again
    assert [each.action for each in store.audit("m")] == ["saved", "status_changed"]


def test_what_is_refused_before_anything_is_written(store: MemoryStore) -> None:
    with pytest.raises(Invalid):
        store.save(a_memory("m", "alpha", a_scope(branch="b")), actor="ann")
    with pytest.raises(Invalid):
        store.save(a_memory("m", "  ", SCOPE), actor="ann")
    with pytest.raises(Invalid):
        store.save(a_memory("m", "alpha", SCOPE), actor=" ")
    with pytest.raises(Invalid):
        stamp(datetime(2026, 1, 1))  # noqa: DTZ001
    with pytest.raises(NotFound):
        store.move("m", S.VERIFIED, actor="ann")
    assert store.audit("m") == []
    assert store.list_published() == []


def test_memories_of_other_scopes_do_not_exist(shelf: Shelf) -> None:
    other = shelf.store(a_scope(experiment_environment="prod"))
    shelf.store(SCOPE).save(a_memory("m", "alpha", SCOPE), actor="ann")
    with pytest.raises(NotFound):
        other.get("m")
    kept = other.save(a_memory("m", "beta", other.file.scope), actor="bob")
    assert kept.content == "beta"
    assert shelf.store(SCOPE).get("m").content == "alpha"


# --- approvals --------------------------------------------------------------------------------------------------------


@pytest.fixture
def asked(store: MemoryStore) -> Asked:
    store.save(a_memory("case", "alpha", SCOPE, kind=MemoryKind.RESEARCH_CASE), actor="ann")
    return Approvals(store).ask("case", {"b": 2, "a": ["patch"]}, requester="ann", risk="low")


def a_receipt(asked: Asked, **changes: Any) -> Receipt:
    package = asked.package
    made = Receipt(
        package_id=package.package_id,
        case_memory_id=package.case_memory_id,
        payload_hash=package.payload_hash,
        receipt_token=asked.receipt_token,
        receipt_id="step-1",
        status="passed",
        receipt={"environment": "lab", "verification_summary": "ran", "evidence_refs": ["r1"]},
    )
    return structs.replace(made, **changes)


def test_a_case_is_published_by_approval_and_receipt_alone(
    store: MemoryStore, asked: Asked
) -> None:
    store.move("case", S.VERIFIED, actor="ann")
    for step in (
        lambda: None,
        lambda: Approvals(store).decide(asked.package.package_id, "approved", approver="bob"),
        lambda: Receipts(store).take(a_receipt(asked, receipt_id="step-0", status="failed")),
    ):
        step()
        with pytest.raises(Conflict) as refused:
            store.move("case", S.PUBLISHED, actor="ann")
        assert refused.value.code == "approval_missing"
    Receipts(store).take(a_receipt(asked))
    assert store.get("case").status is S.VERIFIED  # neither of the two published it
    assert store.move("case", S.PUBLISHED, actor="ann").status is S.PUBLISHED
    assert [each.action for each in store.audit("case")] == [
        "saved",
        "approval_package_saved",
        "status_changed",
        "approval_finalized",
        "verification_finalized",
        "verification_finalized",
        "status_changed",
    ]


def test_an_approval_is_of_the_text_as_it_stood(store: MemoryStore, asked: Asked) -> None:
    """Who may write could else have something harmless approved and publish another text under its name."""
    Approvals(store).decide(asked.package.package_id, "approved", approver="bob")
    Receipts(store).take(a_receipt(asked))
    changed = a_memory("case", "beta", SCOPE, kind=MemoryKind.RESEARCH_CASE)
    store.save(changed, actor="ann")
    store.move("case", S.VERIFIED, actor="ann")
    with pytest.raises(Conflict) as refused:
        store.move("case", S.PUBLISHED, actor="ann")
    assert refused.value.code == "approval_missing"
    again = Approvals(store).ask("case", {"b": 2}, requester="ann", risk="low")
    Approvals(store).decide(again.package.package_id, "approved", approver="bob")
    Receipts(store).take(a_receipt(again))
    assert store.move("case", S.PUBLISHED, actor="ann").content == "beta"


def test_nothing_secret_is_in_audit_or_package(store: MemoryStore, asked: Asked) -> None:
    Approvals(store).decide(asked.package.package_id, "approved", approver="bob")
    Receipts(store).take(a_receipt(asked))
    told = repr(store.audit("case")) + repr(Approvals(store).get(asked.package.package_id))
    assert asked.receipt_token not in told
    assert "patch" not in told
    assert (
        asked.package.payload_hash
        == "19ec25a137245c2118916a8fa8e0682b57ccc03e6a4e9fbc5d1dfea1d7e3532c"
    )


def test_nobody_approves_their_own_and_nobody_twice(store: MemoryStore, asked: Asked) -> None:
    approvals, name = Approvals(store), asked.package.package_id
    for approver in ("ann", " Ann ", " "):
        with pytest.raises(Invalid):
            approvals.decide(name, "approved", approver=approver)
    approvals.decide(name, "rejected", approver="bob")
    with pytest.raises(Conflict) as refused:
        approvals.decide(name, "approved", approver="cid")
    assert refused.value.code == "approval_decided"
    with pytest.raises(Conflict):
        Receipts(store).take(a_receipt(asked))


def test_an_approval_lasts_a_day_and_not_a_moment_longer(
    shelf: Shelf, store: MemoryStore, asked: Asked
) -> None:
    approvals, name = Approvals(store), asked.package.package_id
    shelf.clock.advance(int(timedelta(hours=24).total_seconds() * 1000) - 1)
    assert approvals.get(name).status is ApprovalStatus.PENDING
    shelf.clock.advance(1)
    with pytest.raises(Conflict) as refused:
        approvals.decide(name, "approved", approver="bob")
    assert refused.value.code == "approval_expired"
    assert approvals.get(name).status is ApprovalStatus.EXPIRED
    assert store.audit("case")[-1].action == "approval_expired"


def test_a_receipt_counts_once_and_for_its_own_package(
    shelf: Shelf, store: MemoryStore, asked: Asked
) -> None:
    receipts = Receipts(store)
    Approvals(store).decide(asked.package.package_id, "approved", approver="bob")
    for changes in (
        {"payload_hash": "0" * 64},
        {"receipt_token": "0" * 64},
        {"case_memory_id": "x"},
        {"receipt_id": " "},
    ):
        with pytest.raises(Invalid):
            receipts.take(a_receipt(asked, **changes))
    run = receipts.take(a_receipt(asked))
    assert receipts.get(run.run_id) == run
    shelf.clock.advance(int(timedelta(hours=25).total_seconds() * 1000))
    assert receipts.take(a_receipt(asked)) == run  # also when the approval is over
    with pytest.raises(Conflict) as refused:
        receipts.take(a_receipt(asked, status="failed"))
    assert refused.value.code == "receipt_conflict"
    with pytest.raises(Conflict) as refused:
        receipts.take(a_receipt(asked, receipt_id="step-2"))
    assert refused.value.code == "approval_expired"


@pytest.mark.parametrize(
    "change",
    [
        {"environment": ""},
        {"evidence_refs": []},
        {"other": 1},
        {"log_summary": "x" * 4097},
        {"assertions": {"api_key": "x"}},
        {"assertions": [{"tokenizer": "x"}]},
        {"log_summary": "sent Bearer abc"},
        {"log_summary": "password = abc"},
        {"evidence_refs": ["private key: abc"]},
    ],
)
def test_a_receipt_with_more_than_it_may_say_is_refused(
    store: MemoryStore, asked: Asked, change: Any
) -> None:
    Approvals(store).decide(asked.package.package_id, "approved", approver="bob")
    content = {**a_receipt(asked).receipt, **change}
    with pytest.raises(Invalid) as refused:
        Receipts(store).take(a_receipt(asked, receipt=content))
    assert refused.value.field == "receipt"
    assert [each.action for each in store.audit("case")][-1] == "approval_finalized"


def test_a_receipt_may_say_that_a_header_was_there(store: MemoryStore, asked: Asked) -> None:
    Approvals(store).decide(asked.package.package_id, "approved", approver="bob")
    content = {**a_receipt(asked).receipt, "log_summary": "Authorization header was validated"}
    assert Receipts(store).take(a_receipt(asked, receipt=content)).status == "passed"


def test_a_payload_is_json_of_a_case_in_this_scope(shelf: Shelf, store: MemoryStore) -> None:
    store.save(a_memory("plain", "alpha", SCOPE), actor="ann")
    approvals = Approvals(store)
    for case, payload in (("plain", {}), ("none", {})):
        with pytest.raises(NotFound):
            approvals.ask(case, payload, requester="ann", risk="low")
    store.save(a_memory("case", "alpha", SCOPE, kind=MemoryKind.RESEARCH_CASE), actor="ann")
    for wrong in ({"a": float("nan")}, {"a": object()}, json):
        with pytest.raises(Invalid):
            approvals.ask("case", wrong, requester="ann", risk="low")  # type: ignore[arg-type]
    elsewhere = Approvals(shelf.store(a_scope(branch="b")))
    with pytest.raises(NotFound):
        elsewhere.ask("case", {}, requester="ann", risk="low")


def test_two_memories_that_disagree_are_one_piece_of_evidence(shelf: Shelf) -> None:
    """Highest confidence of their own, then the newest, then the smallest id."""
    same = {"conflict_key": "k"}
    for name, trust in (("weak", 0.5), ("strong", 0.9), ("also", 0.9)):
        shelf.publish(a_memory(name, "alpha", SCOPE, confidence=trust, applicability=same))
    found = shelf.ask("alpha", SCOPE, tool_rounds=[["research-memory"]])
    assert [each.chunk_id for each in found.evidence] == ["research:also"]


def test_times_are_utc() -> None:
    assert stamp(datetime(2026, 1, 1, tzinfo=UTC)) == "2026-01-01T00:00:00.000000Z"
