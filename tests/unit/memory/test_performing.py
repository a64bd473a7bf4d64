"""Commands carried out by the files: the same event again changes nothing, and a refusal changes nothing either."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from signal_search.contracts.memory import (
    AnyCommand,
    AskApproval,
    Decide,
    ListApprovals,
    ListMemories,
    MoveMemory,
    Receipt,
    SaveMemory,
    ShowAudit,
    ShowMemory,
    ShowVerification,
)
from signal_search.contracts.memory_result import MemoryAnswer, MemoryRefusal
from signal_search.contracts.research import MemoryKind, MemoryStatus
from signal_search.errors import Invalid
from signal_search.receipts import sealed, token_digest

from tests.fakes.research import Shelf, a_scope
from workers.memory.performing import answer, perform
from workers.memory.store import MemoryStore

SCOPE = a_scope()
TOKEN = "5" * 64
SAVE = SaveMemory(scope=SCOPE, kind=MemoryKind.RESEARCH_CASE, title="t", content="alpha")


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


@pytest.fixture
def store(shelf: Shelf) -> MemoryStore:
    return shelf.store(SCOPE)


def do(store: MemoryStore, command: AnyCommand, event: str, actor: str = "ann") -> dict[str, Any]:
    answered = answer(store, command, actor=actor, event=event)
    assert answered.refusal is None
    return answered.value


def asking(case: str) -> AskApproval:
    return AskApproval(
        scope=SCOPE, case_memory_id=case, payload={"a": 1}, receipt_token_digest=token_digest(TOKEN)
    )


def test_each_command_is_done_once_for_an_event(shelf: Shelf, store: MemoryStore) -> None:
    """As after a crash between the file and the log: the step is tried again, later, and finds what it did."""
    saved = do(store, SAVE, "e1")
    case = saved["memory_id"]
    move = MoveMemory(scope=SCOPE, memory_id=case, to=MemoryStatus.VERIFIED)
    moved = do(store, move, "e2")
    package = do(store, asking(case), "e3")
    decide = Decide(scope=SCOPE, package_id=package["package_id"], decision="approved")
    decided = do(store, decide, "e4", actor="bob")
    shelf.clock.advance(1000)
    lines = store.audit(case)
    assert do(store, SAVE, "e1") == moved  # what is there by now
    assert do(store, move, "e2") == moved
    assert do(store, asking(case), "e3") == decided
    assert do(store, decide, "e4", actor="bob") == decided
    assert store.audit(case) == lines
    assert len(do(store, ListMemories(scope=SCOPE), "")["memories"]) == 1
    assert len(do(store, ListApprovals(scope=SCOPE), "")["approvals"]) == 1
    # Another event is another doing.
    assert do(store, SAVE, "e5")["memory_id"] != case
    again = answer(store, decide, actor="bob", event="e6").refusal
    assert again is not None
    assert again.code == "approval_decided"


def test_a_receipt_without_its_token_is_proved_by_digests(store: MemoryStore) -> None:
    case = do(store, SAVE, "e1")["memory_id"]
    package = do(store, asking(case), "e2")
    decide = Decide(scope=SCOPE, package_id=package["package_id"], decision="approved")
    do(store, decide, "e3", actor="bob")
    receipt = Receipt(
        package_id=package["package_id"],
        case_memory_id=case,
        payload_hash=package["payload_hash"],
        receipt_token=TOKEN,
        receipt_id="step-1",
        status="passed",
        receipt={"environment": "lab", "verification_summary": "ran", "evidence_refs": ["r1"]},
    )
    command = sealed(receipt, SCOPE)
    assert TOKEN not in repr(command)
    # Who read the file knows the digest, and has no token of it.
    stolen = sealed(structs.replace(receipt, receipt_token=token_digest(TOKEN)), SCOPE)
    refusal = answer(store, stolen, actor="eve", event="e4").refusal
    assert refusal is not None
    assert (refusal.family, refusal.field) == ("invalid", "receipt_token")
    run = do(store, command, "e5")
    assert do(store, command, "e6") == run
    shown = do(store, ShowVerification(scope=SCOPE, record_id=run["run_id"]), "e7")
    assert shown == run


@pytest.mark.parametrize(
    ("command", "refusal"),
    [
        (
            ShowMemory(scope=SCOPE, record_id="none"),
            ("not_found", "memory_not_found", None),
        ),
        (ShowAudit(scope=SCOPE, record_id="none"), ("not_found", "memory_not_found", None)),
        (structs.replace(SAVE, content=" "), ("invalid", "invalid_request", "content")),
        (ListMemories(scope=SCOPE, cursor="x"), ("invalid", "invalid_request", "cursor")),
        (
            ListMemories(scope=SCOPE, cursor="2026-01-01T00:00:00Z~m"),
            ("invalid", "invalid_request", "cursor"),
        ),
        (
            structs.replace(SAVE, scope=a_scope(branch="b")),
            ("invalid", "invalid_request", "scope"),
        ),
    ],
)
def test_refusals_are_answers(
    store: MemoryStore, command: AnyCommand, refusal: tuple[str, str, str | None]
) -> None:
    answered = answer(store, command, actor="ann", event="e")
    said = answered.refusal
    assert isinstance(said, MemoryRefusal)
    assert (said.family, said.code, said.field) == refusal
    assert answered == MemoryAnswer(refusal=said)


def test_a_command_of_another_scope_is_never_carried_out(shelf: Shelf) -> None:
    other = shelf.store(a_scope(branch="b"))
    for command in (SAVE, ShowMemory(scope=SCOPE, record_id="m"), ListMemories(scope=SCOPE)):
        with pytest.raises(Invalid) as refused:
            perform(other, command, actor="ann", event="e")
        assert refused.value.field == "scope"


def test_memories_of_one_moment_are_paged_by_their_ids(store: MemoryStore) -> None:
    """The clock stands still, so that only the ids tell them apart: none is lost and none comes twice."""
    names = {do(store, SAVE, f"e{at}")["memory_id"] for at in range(7)}
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = do(store, ListMemories(scope=SCOPE, limit=3, cursor=cursor), "")
        seen += [each["memory_id"] for each in page["memories"]]
        cursor = page["next_cursor"]
    assert seen == sorted(names)


def test_what_waited_too_long_is_expired_in_a_list(shelf: Shelf, store: MemoryStore) -> None:
    case = do(store, SAVE, "e1")["memory_id"]
    do(store, asking(case), "e2")
    shelf.clock.advance(86_400_000)
    page = do(store, ListApprovals(scope=SCOPE), "")
    assert [each["status"] for each in page["approvals"]] == ["expired"]
    assert store.audit(case)[-1].action == "approval_expired"
