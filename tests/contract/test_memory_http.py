"""Memories, approvals and receipts over HTTP, on a real gateway with real workers: what each address answers."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from redis import Redis

from infra.tokens import TokenStore, tokens_path
from tests.fakes.memory_http import (
    CONTENT,
    TOKEN,
    TOKEN_DIGEST,
    Caller,
    Library,
    a_library,
    a_receipt,
    done,
    everything,
    refused,
)
from tests.fakes.research import a_scope

OURS, THEIRS = a_scope(), a_scope(branch="other")
NOTHING = (404, "not_found", None)


@pytest.fixture(scope="module")
def library(redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with a_library(redis_url, tmp_path_factory.mktemp("library")) as found:
        assert found.http.get("/v1/research/memories").status_code == 404  # no token, no grant
        yield found


@pytest.fixture(scope="module")
def ann(library: Library) -> Caller:
    return library.caller("lab", OURS, person="ann")


@pytest.fixture(scope="module")
def bob(library: Library) -> Caller:
    return library.caller("lab", OURS, person="bob")


def test_a_memory_from_candidate_to_revoked(ann: Caller, bob: Caller) -> None:
    given = {
        "kind": "literature",
        "title": "A title",
        "content": "alpha beta",
        "source_refs": ["doi:10.1/x"],
        "confidence": 0.5,
        "applicability": {"locator": "p. 3", "n": 1.5},
        "related_memory_ids": ["m0"],
    }
    reply = ann.post("/memories", OURS, **given)
    kept = done(reply, 201)
    assert {name: kept[name] for name in given} == given
    assert (kept["status"], kept["created_at"]) == ("candidate", kept["updated_at"])
    name = kept["memory_id"]
    assert done(bob.get(f"/memories/{name}", OURS)) == kept
    assert refused(ann.move(name, "publish", OURS)) == (409, "transition_refused", None)
    steps = ("verify", "publish", "deprecate", "verify", "publish", "expire", "verify", "publish")
    for step in (*steps, "conflict", "revoke"):
        moved = done(bob.move(name, step, OURS, reason=f"to {step}"))
    assert moved["status"] == "revoked"
    assert refused(ann.move(name, "verify", OURS)) == (409, "transition_refused", None)
    trail = done(ann.get(f"/memories/{name}/audit", OURS))["audit"]
    assert [each["action"] for each in trail] == ["saved", *["status_changed"] * 9, "revoked"]
    assert [each["details"]["actor"] for each in trail] == ["lab/ann", *["lab/bob"] * 10]
    assert trail[3]["details"] == {
        "actor": "lab/bob",
        "from": "published",
        "to": "deprecated",
        "reason": "to deprecate",
    }


def test_lists_are_pages_newest_first_without_texts(library: Library) -> None:
    scope = a_scope(project_id="lists")
    ann = library.caller("lab", scope)
    names = [ann.kept(scope, f"content {at}") for at in range(5)]
    case = ann.kept(scope, kind="research_case")
    done(ann.move(names[1], "verify", scope))  # changed last
    page = done(ann.get("/memories", scope, limit=3))
    assert [each["memory_id"] for each in page["memories"]] == [names[1], case, names[4]]
    assert all("content" not in each for each in page["memories"])
    rest = done(ann.get("/memories", scope, limit=3, cursor=page["next_cursor"]))
    assert [each["memory_id"] for each in rest["memories"]] == [names[3], names[2], names[0]]
    assert rest["next_cursor"] is None
    some = done(ann.get("/memories", scope, status="verified"))["memories"]
    assert [each["memory_id"] for each in some] == [names[1]]
    some = done(ann.get("/memories", scope, kind="research_case"))["memories"]
    assert [each["memory_id"] for each in some] == [case]
    packages = [ann.asked(case, scope)["package_id"] for _ in range(3)]
    page = done(ann.get("/approvals", scope, limit=2, case_memory_id=case))
    assert [each["package_id"] for each in page["approvals"]] == [packages[2], packages[1]]
    rest = done(ann.get("/approvals", scope, limit=2, cursor=page["next_cursor"]))
    assert [each["package_id"] for each in rest["approvals"]] == [packages[0]]
    assert done(ann.get("/approvals", scope, status="approved"))["approvals"] == []
    assert done(ann.get("/verifications", scope)) == {"verifications": [], "next_cursor": None}


def test_a_case_needs_somebody_else_and_a_receipt(ann: Caller, bob: Caller) -> None:
    case = ann.kept(OURS, kind="research_case")
    done(ann.move(case, "verify", OURS))
    package = ann.asked(case, OURS, risk_level="high", requester_id="lab/ann")
    assert set(package) == {
        "package_id",
        "case_memory_id",
        "scope",
        "requester_id",
        "payload_hash",
        "risk_level",
        "status",
        "created_at",
        "expires_at",
    }
    # The memory guide's own example of a hash.
    hashed = "19ec25a137245c2118916a8fa8e0682b57ccc03e6a4e9fbc5d1dfea1d7e3532c"
    assert (package["payload_hash"], package["requester_id"]) == (hashed, "lab/ann")
    at = f"/approvals/{package['package_id']}"
    receipt = a_receipt(package)
    assert refused(bob.post("/verifications", OURS, **receipt)) == (409, "approval_missing", None)
    own = ann.post(f"{at}/decision", OURS, decision="approved")
    assert refused(own) == (422, "invalid_request", "approver_id")
    said = {"decision": "approved", "reason": "seen", "package_id": package["package_id"]}
    assert done(bob.post(f"{at}/decision", OURS, **said))["status"] == "approved"
    assert done(ann.get(at, OURS))["status"] == "approved"
    again = bob.post(f"{at}/decision", OURS, decision="rejected")
    assert refused(again) == (409, "approval_decided", None)
    assert refused(ann.move(case, "publish", OURS)) == (409, "approval_missing", None)
    run = done(ann.post("/verifications", OURS, **receipt), 201)
    assert (run["status"], run["receipt"]) == ("passed", CONTENT)
    assert done(ann.post("/verifications", OURS, **receipt), 201) == run
    other = a_receipt(package, status="failed")
    assert refused(ann.post("/verifications", OURS, **other)) == (409, "receipt_conflict", None)
    assert done(bob.get(f"/verifications/{run['run_id']}", OURS)) == run
    found = done(bob.get("/verifications", OURS, case_memory_id=case))["verifications"]
    assert found == [run]
    assert done(ann.move(case, "publish", OURS))["status"] == "published"


def test_two_tokens_of_one_tenant_are_one_person_unless_named(library: Library) -> None:
    scope = a_scope(project_id="alone")
    one, other = library.caller("solo", scope), library.caller("solo", scope)
    package = one.asked(one.kept(scope, kind="research_case"), scope)
    at = f"/approvals/{package['package_id']}/decision"
    refusal = refused(other.post(at, scope, decision="approved"))
    assert refusal == (422, "invalid_request", "approver_id")
    named = library.caller("solo", scope, person="eve")
    assert done(named.post(at, scope, decision="rejected"))["status"] == "rejected"


def test_nobody_acts_in_anothers_name(ann: Caller, bob: Caller) -> None:
    case = ann.kept(OURS, kind="research_case")
    body = {"case_memory_id": case, "payload": {}, "receipt_token_digest": TOKEN_DIGEST}
    reply = ann.post("/approvals", OURS, **body, requester_id="lab/bob")
    assert refused(reply) == (403, "forbidden", "requester_id")
    package = ann.asked(case, OURS)
    at = f"/approvals/{package['package_id']}/decision"
    reply = bob.post(at, OURS, decision="approved", approver_id="lab/ann")
    assert refused(reply) == (403, "forbidden", "approver_id")
    headers = {**ann.headers, "x-arr-internal-actor": "lab/bob"}
    named = ann._replace(headers=headers)
    assert refused(named.post(at, OURS, decision="approved"))[2] == "approver_id"
    reply = bob.post(at, OURS, decision="approved", package_id="another")
    assert refused(reply) == (422, "invalid_request", "package_id")


def test_the_same_key_is_the_same_doing(ann: Caller, bob: Caller) -> None:
    given = {"kind": "knowledge", "title": "t", "content": "once"}
    first = ann.post("/memories", OURS, key="k1", **given)
    again = ann.post("/memories", OURS, key="k1", **given)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()
    assert again.headers["idempotency-replayed"] == "true"
    other = ann.post("/memories", OURS, key="k1", **{**given, "title": "u"})
    assert refused(other) == (409, "idempotency_conflict", None)
    assert refused(bob.post("/memories", OURS, key="k1", **given))[1] == "idempotency_conflict"
    name = first.json()["memory_id"]
    for _ in range(2):
        assert done(ann.post(f"/memories/{name}/verify", OURS, key="k2"))["status"] == "verified"
    trail = done(ann.get(f"/memories/{name}/audit", OURS))["audit"]
    assert [each["action"] for each in trail] == ["saved", "status_changed"]


DRAFT: dict[str, Any] = {"kind": "knowledge", "title": "t", "content": "c"}
ASKED = {"case_memory_id": "x", "payload": {}, "receipt_token_digest": TOKEN_DIGEST}
GIVEN = a_receipt({"package_id": "p", "case_memory_id": "c", "payload_hash": "0" * 64})


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/memories", {**DRAFT, "title": " "}, "title"),
        ("/memories", {**DRAFT, "content": ""}, "content"),
        ("/memories", {**DRAFT, "content": "\n"}, "content"),
        ("/memories", {**DRAFT, "kind": "gossip"}, "kind"),
        ("/memories", {**DRAFT, "confidence": 1.5}, "confidence"),
        ("/memories", {**DRAFT, "source_refs": [1]}, "source_refs[0]"),
        ("/memories", {**DRAFT, "applicability": []}, "applicability"),
        ("/memories", {**DRAFT, "status": "published"}, None),
        ("/memories", {**DRAFT, "memory_id": "mine"}, None),
        ("/memories", {"kind": "knowledge", "title": "t"}, "content"),
        ("/memories/m/verify", {"reason": 1}, "reason"),
        ("/memories/m/verify", {"actor": "me"}, None),
        ("/approvals", {**ASKED, "payload": []}, "payload"),
        ("/approvals", {**ASKED, "risk_level": "none"}, "risk_level"),
        ("/approvals", {**ASKED, "receipt_token_digest": "AB" * 32}, "receipt_token_digest"),
        ("/approvals", {**ASKED, "status": "approved"}, None),
        ("/approvals/p/decision", {"decision": "maybe"}, "decision"),
        ("/approvals/p/decision", {}, "decision"),
        ("/verifications", {**GIVEN, "status": "pending"}, "status"),
        ("/verifications", {**GIVEN, "event_key": "0" * 64}, None),
        ("/verifications", {**GIVEN, "receipt_id": " "}, "receipt_id"),
        ("/verifications", {**GIVEN, "payload_hash": "x"}, "payload_hash"),
        ("/verifications", {**GIVEN, "receipt": {**CONTENT, "other": 1}}, "receipt"),
        (
            "/verifications",
            {**GIVEN, "receipt": {**CONTENT, "log_summary": "password: x"}},
            "receipt",
        ),
    ],
)
def test_bad_bodies_are_refused_before_anything_is_done(
    ann: Caller, redis: Redis, path: str, body: dict[str, Any], field: str | None
) -> None:
    ann.get("/memories", OURS)
    before = set(redis.scan_iter(match="*:job"))
    reply = ann.post(path, OURS, **body)
    assert refused(reply) == (422, "invalid_request", field)
    assert set(redis.scan_iter(match="*:job")) == before
    assert len(before) == 1  # that of the reading


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"branch": " x"}, "branch"),
        ({"branch": ""}, "branch"),
        ({"status": "secret"}, "status"),
        ({"kind": "gossip"}, "kind"),
        ({"limit": "0"}, "limit"),
        ({"limit": "201"}, "limit"),
        ({"cursor": "x"}, "cursor"),
        ({"cursor": "x" * 301}, "cursor"),
    ],
)
def test_bad_parameters_are_named(ann: Caller, params: dict[str, str], field: str) -> None:
    assert refused(ann.get("/memories", OURS, **params)) == (422, "invalid_request", field)


def test_what_is_not_there(ann: Caller) -> None:
    missing = {
        "memory_not_found": [
            ann.get("/memories/none", OURS),
            ann.get("/memories/none/audit", OURS),
            ann.move("none", "verify", OURS),
            ann.post("/approvals", OURS, **ASKED),
        ],
        "package_not_found": [
            ann.get("/approvals/none", OURS),
            ann.post("/approvals/none/decision", OURS, decision="approved"),
            ann.post("/verifications", OURS, **GIVEN),
        ],
        "run_not_found": [ann.get("/verifications/none", OURS)],
        "not_found": [ann.move("none", "fly", OURS), ann.get("/memories/" + "x" * 201, OURS)],
    }
    for code, replies in missing.items():
        for each in replies:
            assert refused(each) == (404, code, None)


def test_to_whom_nothing_was_granted_there_is_nothing(library: Library, ann: Caller) -> None:
    name = ann.kept(OURS)
    plain, elsewhere = library.caller("lab"), library.caller("lab", THEIRS)
    for each in (plain, elsewhere):
        for scope in (OURS, a_scope(branch="never was")):
            replies = [
                each.get("/memories", scope),
                each.get(f"/memories/{name}", scope),
                each.post("/memories", scope, **DRAFT),
                each.move(name, "revoke", scope),
                each.post("/approvals", scope, **ASKED),
                each.post("/approvals/p/decision", scope, decision="approved"),
                each.post("/verifications", scope, **GIVEN),
                each.post("/index", scope),
                each.get("/approvals", scope),
                each.get("/verifications", scope),
            ]
            assert {refused(reply) for reply in replies} == {NOTHING}
    assert refused(elsewhere.get(f"/memories/{name}", THEIRS)) == (404, "memory_not_found", None)
    # To who has no scope at all, not even a method or a malformed body makes a difference.
    for method in ("GET", "PUT", "DELETE", "OPTIONS", "POST"):
        reply = plain.http.request(method, "/v1/research/memories", headers=plain.headers)
        assert refused(reply) == NOTHING
    assert ann.http.put("/v1/research/approvals", headers=ann.headers).status_code in {405, 415}


def test_a_token_that_may_only_read_changes_nothing(library: Library) -> None:
    store = TokenStore.load(tokens_path(library.settings))
    token, _ = store.create("lab", ["read"], {}, now_ms=0, research=(OURS,))
    reader = Caller(library.http, {"authorization": f"Bearer {token}"}, token)
    assert reader.get("/memories", OURS).status_code == 200
    for reply in (reader.post("/memories", OURS, **DRAFT), reader.post("/index", OURS)):
        assert refused(reply) == (403, "forbidden", None)


def test_nothing_secret_is_told_or_kept(
    ann: Caller, bob: Caller, redis: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither the receipt's token nor the payload is in an answer or a log, and the token nowhere in the store."""
    caplog.set_level(logging.DEBUG)
    case = ann.kept(OURS, kind="research_case")
    package = ann.asked(case, OURS, payload={"plan": "sesame-payload"})
    at = f"/approvals/{package['package_id']}"
    replies = [
        bob.post(f"{at}/decision", OURS, decision="approved"),
        bob.post("/verifications", OURS, **a_receipt(package)),
        bob.get("/verifications", OURS),
        bob.get("/approvals", OURS),
        bob.get(at, OURS),
        bob.get(f"/memories/{case}/audit", OURS),
    ]
    told = "".join(each.text for each in replies) + caplog.text
    for secret in (TOKEN, TOKEN_DIGEST, "sesame-payload"):
        assert secret not in told
    kept = "".join(everything(redis, each) for each in redis.scan_iter())
    assert TOKEN_DIGEST in kept  # where the token would be
    assert TOKEN not in kept
    assert ann.http.get("/v1/jobs", headers=ann.headers).json()["jobs"] == []
