"""Research memory from Python: the same from a gateway and from Redis without one, blocking and for asyncio."""

import asyncio
from collections.abc import Callable, Iterator

import pytest
from signal_search.client import AsyncClient, Client
from signal_search.client.memory_calls import scope_of
from signal_search.contracts.memory import Receipt
from signal_search.contracts.research import ApprovalStatus, MemoryKind, MemoryStatus
from signal_search.errors import Conflict, Forbidden, Invalid, NotFound

from api_gateway.auth import Gate
from api_gateway.local import LocalTransport
from infra.tokens import TokenStore, tokens_path
from tests.fakes.memory_http import Library, a_library
from tests.fakes.research import a_scope

OURS = a_scope(team_id="client")
CONTENT = {"environment": "lab", "verification_summary": "ran", "evidence_refs": ["r1"]}
Face = Callable[..., Client]


@pytest.fixture(scope="module")
def library(redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with a_library(redis_url, tmp_path_factory.mktemp("client")) as found:
        found.caller("first")
        yield found


@pytest.fixture(params=["gateway", "redis"])
def face(request: pytest.FixtureRequest, library: Library) -> Iterator[Face]:
    """Return what opens a client for a token, over each way."""
    opened: list[Client] = []

    def open_client(token: str) -> Client:
        if request.param == "gateway":
            client = Client(str(library.http.base_url), token=token)
        else:
            caller = Gate(tokens_path(library.settings)).find(token)
            client = Client(transport=LocalTransport(library.settings, caller))
        opened.append(client)
        return client

    yield open_client
    for each in opened:
        each.close()


def test_one_whole_life(face: Face, library: Library) -> None:
    ann = face(library.caller("lab", OURS, person="ann").token).memory(OURS)
    bob = face(library.caller("lab", OURS, person="bob").token).memory(OURS)
    case = ann.save("How it was", "gamma rays", kind="research_case", source_refs=["a", "b"])
    assert (case.status, case.kind) == (MemoryStatus.CANDIDATE, MemoryKind.RESEARCH_CASE)
    assert ann.verify(case.memory_id, reason="read").status is MemoryStatus.VERIFIED
    asked = ann.ask_approval(case.memory_id, {"steps": ["look"]}, risk="low")
    assert asked.package.requester_id == "lab/ann"
    waiting = bob.approvals(status=ApprovalStatus.PENDING, case_id=case.memory_id).approvals
    assert waiting == (asked.package,)
    with pytest.raises(Invalid) as own:
        ann.decide(asked.package.package_id, "approved")
    assert own.value.field == "approver_id"
    decided = bob.decide(asked.package.package_id, "approved", reason="fine")
    assert bob.approval(decided.package_id) == decided
    with pytest.raises(Conflict) as missing:
        ann.publish(case.memory_id)
    assert missing.value.code == "approval_missing"
    receipt = {
        "package_id": decided.package_id,
        "case_memory_id": case.memory_id,
        "payload_hash": decided.payload_hash,
        "receipt_token": asked.receipt_token,
        "receipt_id": "step-1",
        "status": "passed",
        "receipt": CONTENT,
    }
    with pytest.raises(Invalid) as wrong:
        ann.give_receipt({**receipt, "receipt_token": "0" * 64})
    assert wrong.value.field == "receipt_token"
    run = ann.give_receipt(receipt)
    assert ann.give_receipt(receipt) == run == bob.verification(run.run_id)
    assert bob.verifications(case_id=case.memory_id).verifications == (run,)
    assert ann.query("gamma").answer.evidence == ()
    assert ann.publish(case.memory_id).status is MemoryStatus.PUBLISHED
    found = bob.query("gamma", limit=3, tool_rounds=[["research-memory"]]).answer
    assert [each.chunk_id for each in found.evidence] == [f"research:{case.memory_id}"]
    actors = [each.details.get("actor") for each in bob.audit(case.memory_id).audit]
    assert actors == ["lab/ann", "lab/ann", "lab/ann", "lab/bob", None, "lab/ann"]
    assert bob.revoke(case.memory_id).status is MemoryStatus.REVOKED
    assert ann.query("gamma").answer.evidence == ()


def test_every_step_and_page(face: Face, library: Library) -> None:
    scope = a_scope(team_id="pages", branch=str(id(face)))
    memory = face(library.caller("lab", scope).token).memory(list(scope_names(scope)))
    first, second = (memory.save(title, "text") for title in ("one", "two"))
    memory.verify(first.memory_id)
    memory.publish(first.memory_id)
    for step in (memory.deprecate, memory.expire, memory.conflict):
        assert step(first.memory_id).status is not MemoryStatus.PUBLISHED
        memory.verify(first.memory_id)
        memory.publish(first.memory_id)
    page = memory.list(limit=1)
    assert [each.memory_id for each in page.memories] == [first.memory_id]
    page = memory.list(limit=1, cursor=page.next_cursor)
    assert [each.memory_id for each in page.memories] == [second.memory_id]
    assert page.next_cursor is None
    assert memory.list(status=MemoryStatus.PUBLISHED, kind=MemoryKind.LITERATURE).memories == ()
    assert memory.get(second.memory_id) == second


def test_a_key_of_the_callers_own(face: Face, library: Library) -> None:
    scope = a_scope(team_id="keys", branch=str(id(face)))
    memory = face(library.caller("lab", scope).token).memory(scope)
    one = memory.save("t", "c", idempotency_key="k")
    assert memory.save("t", "c", idempotency_key="k") == one
    with pytest.raises(Conflict) as refused:
        memory.save("t", "d", idempotency_key="k")
    assert refused.value.code == "idempotency_conflict"


def test_what_is_refused(face: Face, library: Library) -> None:
    ours = face(library.caller("lab", OURS).token).memory(OURS)
    theirs = face(library.caller("lab", a_scope()).token).memory(OURS)
    plain = face(library.caller("lab").token).memory(OURS)
    name = ours.save("t", "c").memory_id
    for memory in (theirs, plain):
        for call in (
            lambda memory=memory: memory.get(name),
            lambda memory=memory: memory.save("t", "c"),
            lambda memory=memory: memory.list(),
            lambda memory=memory: memory.query("c"),
            lambda memory=memory: memory.approvals(),
        ):
            with pytest.raises(NotFound) as nothing:
                call()
            assert nothing.value.code == "not_found"
    with pytest.raises(NotFound) as unknown:
        ours.get("none")
    assert unknown.value.code == "memory_not_found"
    with pytest.raises(Invalid) as blank:
        ours.save("t", " ")
    assert blank.value.field == "content"
    with pytest.raises(Invalid) as much:
        ours.save("t", "c", confidence=2.0)
    assert much.value.field == "confidence"
    with pytest.raises(Invalid) as number:
        ours.ask_approval(name, {"n": float("nan")})
    assert number.value.field == "payload"
    with pytest.raises(Invalid):
        ours.list(cursor="none")
    store = TokenStore.load(tokens_path(library.settings))
    token, _record = store.create("lab", ["read"], {}, now_ms=0, research=(OURS,))
    reader = face(token).memory(OURS)
    assert reader.get(name).memory_id == name
    with pytest.raises(Forbidden):
        reader.revoke(name)


def test_asyncio_does_the_same(library: Library) -> None:
    scope = a_scope(team_id="async")
    token = library.caller("lab", scope).token

    async def live() -> MemoryStatus:
        async with AsyncClient(str(library.http.base_url), token=token) as client:
            memory = client.memory(scope)
            kept = await memory.save("title", "delta waves")
            await memory.verify(kept.memory_id)
            await memory.publish(kept.memory_id)
            found = await memory.query("delta")
            assert found.answer.evidence[0].content == "title\n\ndelta waves"
            case = await memory.save("case", "x", kind="research_case")
            asked = await memory.ask_approval(case.memory_id, {})
            assert (await memory.approvals()).approvals == (asked.package,)
            with pytest.raises(Invalid):
                await memory.decide(asked.package.package_id, "approved")
            assert (await memory.list(limit=1)).next_cursor is not None
            assert (await memory.audit(kept.memory_id)).audit[0].action == "saved"
            assert (await memory.verifications()).verifications == ()
            return (await memory.revoke(kept.memory_id)).status

    assert asyncio.run(live()) is MemoryStatus.REVOKED


@pytest.mark.parametrize(
    "scope", [["a"], ["a"] * 6, "a,b,c,d", {"team_id": "x"}, ["a"] * 4 + [" "]]
)
def test_a_scope_has_five_names(scope: object) -> None:
    with pytest.raises(Invalid) as refused:
        scope_of(scope)  # type: ignore[arg-type]
    assert (refused.value.field or "").startswith("scope")


def scope_names(scope: object) -> Iterator[str]:
    for name in scope.__struct_fields__:  # type: ignore[attr-defined]
        yield getattr(scope, name)


def test_a_receipt_has_the_fields_that_the_page_names() -> None:
    assert Receipt.__struct_fields__ == (
        "package_id",
        "case_memory_id",
        "payload_hash",
        "receipt_token",
        "receipt_id",
        "status",
        "receipt",
    )
