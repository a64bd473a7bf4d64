"""Whoever lacks a job's scope finds nothing of it: at every door, by every way to name it, and in no list."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis import Redis
from signal_search.contracts.job import Job
from signal_search.contracts.query import Constraints, RetrieveRequest, SourcePrefs
from signal_search.contracts.research import ResearchRequest, ScopeKey
from signal_search.errors import Invalid, NotFound

from api_gateway.auth import LOCAL, OWN_MACHINE
from api_gateway.desk import Desk
from api_gateway.local import LocalTransport
from api_gateway.owners import Reader, owner_of, reader_of
from api_gateway.submission import Caller
from infra.clock import FixedClock
from infra.settings import Settings, load
from infra.tokens import Principal, TokenStore, tokens_path
from tests.fakes.builders import NOW_MS
from tests.fakes.research import Shelf, a_memory, a_scope
from tests.fakes.search_stack import serving

pytestmark = pytest.mark.timeout(150)  # real workers on a machine that others keep busy

WAITED = "/v1/retrieve?wait=50"
OURS, THEIRS = a_scope(), a_scope(branch="other")
QUESTION = "How high is Mount Ansel?"
NOTE = "Mount Ansel is 2,114 metres high."


def asked(scope: ScopeKey | None = OURS, only: tuple[str, ...] = ("memory",)) -> RetrieveRequest:
    prefs = SourcePrefs(only=only if scope is not None else ())
    return RetrieveRequest(query=QUESTION, constraints=Constraints(scope=scope, source_prefs=prefs))


def body(scope: ScopeKey = OURS, **more: Any) -> dict[str, Any]:
    named = {part: getattr(scope, part) for part in scope.__struct_fields__}
    constraints = {"scope": named, "source_prefs": {"only": ["memory"]}}
    return {"query": QUESTION, "constraints": constraints, **more}


# --- over HTTP, with real workers -------------------------------------------------------------------------------------


class House(NamedTuple):
    """A gateway with workers and memories, and how to get a token."""

    http: httpx.Client
    settings: Settings

    def token(self, tenant: str, *scopes: ScopeKey) -> dict[str, str]:
        store = TokenStore.load(tokens_path(self.settings))
        token, _record = store.create(tenant, ["read", "write"], {}, now_ms=0, research=scopes)
        return {"authorization": f"Bearer {token}"}

    def answered(self, headers: dict[str, str], **more: Any) -> dict[str, Any]:
        reply = self.http.post(WAITED, json=body(**more), headers=headers, timeout=70)
        assert reply.status_code == 200, reply.text
        found: dict[str, Any] = reply.json()
        return found


@pytest.fixture(scope="module")
def house(redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("doors")
    shelf = Shelf(folder / "memory")
    for scope in (OURS, THEIRS):
        shelf.publish(a_memory("m1", NOTE, scope))
    research = {"folder": str(Path(folder / "memory")), "vectors": "off"}
    with serving(redis_url, folder, research=research) as found:
        # While no token is configured nobody has a grant, just as at the address of the memory itself.
        reply = found.http.post("/v1/retrieve", json=body())
        assert (reply.status_code, reply.json()["detail"]["code"]) == (404, "scope_not_found")
        yield House(found.http, found.settings)


DOORS = [
    ("GET", ""),
    ("GET", "/result"),
    ("GET", "/events"),
    ("GET", "/bundle"),
    ("GET", "/delegations"),
    ("POST", "/delegations/entail"),
    *(
        ("GET", f"/export?format={name}")
        for name in ("bibtex", "ris", "csl", "markdown", "noteexpress")
    ),
    ("DELETE", ""),
]


def test_a_job_of_a_scope_is_for_its_tokens_only(house: House) -> None:
    granted, plain = house.token("ann", OURS), house.token("ann")
    result = house.answered(granted)
    assert [each["url"] for each in result["sources"]] == ["memory://local/records/m1"]
    job_id = result["job_id"]
    strangers = (
        plain,
        house.token("ann", THEIRS),
        house.token("bob", OURS),
        house.token("bob"),
    )
    never = "job_" + "0" * 26
    for stranger, (method, door) in itertools.product(strangers, DOORS):
        answer = {"json": {"decline": True}} if method == "POST" else {}
        replies = [
            house.http.request(method, f"/v1/jobs/{each}{door}", headers=stranger, **answer)
            for each in (job_id, never)
        ]
        told = [(each.status_code, each.json()["detail"]) for each in replies]
        assert told[0] == told[1], door
        assert told[0][0] == 404, door
    for stranger in strangers:
        listed = house.http.get("/v1/jobs", headers=stranger).json()["jobs"]
        assert job_id not in {each["id"] for each in listed}
        pages = house.http.get(f"/v1/jobs?cursor={job_id}", headers=stranger)
        assert pages.status_code == 422
        crawl = house.http.get(f"/compat/firecrawl/v2/crawl/{job_id}", headers=stranger)
        assert crawl.status_code == 404
    # And who has the grant finds it at each of them, with another token too.
    other = house.token("ann", THEIRS, OURS)
    for method, door in DOORS:
        if method == "GET":
            reply = house.http.get(f"/v1/jobs/{job_id}{door}", headers=other)
            assert reply.status_code == 200, door
    listed = house.http.get("/v1/jobs", headers=other).json()["jobs"]
    assert job_id in {each["id"] for each in listed}


def test_a_scope_that_was_not_granted_is_like_one_that_never_was(house: House) -> None:
    granted, plain = house.token("cid", OURS), house.token("cid")
    told = {
        (reply.status_code, str(reply.json()["detail"]))
        for reply in (
            house.http.post("/v1/retrieve", json=body(THEIRS), headers=granted),
            house.http.post("/v1/retrieve", json=body(a_scope(branch="never")), headers=granted),
            house.http.post("/v1/retrieve", json=body(), headers=plain),
        )
    }
    [(status, detail)] = told
    assert status == 404
    assert "scope_not_found" in detail
    assert "constraints.scope" in detail


def test_a_key_of_a_scoped_job_says_nothing_to_others(house: House) -> None:
    granted, plain = house.token("dan", OURS), house.token("dan")
    key = {"idempotency-key": "one-key"}
    first = house.answered({**granted, **key})
    assert house.answered({**granted, **key})["job_id"] == first["job_id"]
    plainly = {"query": QUESTION, "constraints": {"source_prefs": {"only": ["wikipedia"]}}}
    other = house.http.post("/v1/retrieve", json=plainly, headers={**plain, **key})
    assert other.status_code == 202


def test_a_question_to_memory_itself_is_read_again_by_who_has_the_scope(house: House) -> None:
    granted = house.token("eve", OURS)
    asked_memory = {"query": "Ansel", "scope": body()["constraints"]["scope"]}
    said = house.http.post("/v1/research/query", json=asked_memory, headers=granted, timeout=70)
    found = said.json()
    path = f"/v1/jobs/{found['job_id']}/result"
    assert house.http.get(path, headers=granted).json() == found
    assert house.http.get(path, headers=house.token("eve")).status_code == 404


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"scope": None}, "constraints.source_prefs.only[0]"),
        ({"scope": {"team_id": "x"}}, "constraints.scope.project_id"),
        ({"scope": {**body()["constraints"]["scope"], "branch": " x"}}, "constraints.scope.branch"),
        ({"scope": "a,b,c,d,e"}, "constraints.scope"),
    ],
)
def test_a_scope_that_is_none_is_refused(house: House, change: dict[str, Any], field: str) -> None:
    wrong = body()
    wrong["constraints"] = {**wrong["constraints"], **change}
    reply = house.http.post("/v1/retrieve", json=wrong, headers=house.token("fay", OURS))
    assert (reply.status_code, reply.json()["detail"].get("field")) == (422, field), reply.text


# --- the desk itself, over random grants ------------------------------------------------------------------------------

PARTS = st.sampled_from(["a", "A", "a b", "a,b", "local", "ａ", "甲", '"'])
SCOPES = st.builds(
    ScopeKey,
    team_id=PARTS,
    project_id=st.just("p"),
    repository=st.just("r"),
    branch=PARTS,
    experiment_environment=st.sampled_from(["x", "X"]),
)
READERS = st.builds(
    Reader,
    tenant=st.sampled_from(["red", "blue", "local"]),
    scopes=st.lists(SCOPES, max_size=3, unique=True).map(tuple),
    every_scope=st.booleans(),
)


def caller_of(reader: Reader) -> Caller:
    return Caller(tenant=reader.tenant, scopes=reader.scopes, every_scope=reader.every_scope)


def a_desk(redis: Redis, redis_url: str) -> Desk:
    figures = load(redis_url=redis_url, gateway={"deployment_slots": 500})
    return Desk(redis, figures, FixedClock(NOW_MS), lambda _bells: None)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    wanted=st.lists(st.tuples(READERS, st.none() | SCOPES, st.booleans()), max_size=5),
    readers=st.lists(READERS, min_size=1, max_size=4),
)
def test_who_may_read_is_who_was_granted(
    redis: Redis,
    redis_url: str,
    wanted: list[tuple[Reader, ScopeKey | None, bool]],
    readers: list[Reader],
) -> None:
    redis.flushall()
    desk = a_desk(redis, redis_url)
    made: list[tuple[Job, Reader, ScopeKey | None]] = []
    for by, scope, is_research in wanted:
        request = (
            ResearchRequest(query=QUESTION, scope=scope)
            if is_research and scope is not None
            else asked(scope)
        )
        may = scope is None or by.every_scope or scope in by.scopes
        if may:
            made.append((desk.submit(request, caller_of(by))[0], by, scope))
            continue
        with pytest.raises(NotFound) as refused:
            desk.submit(request, caller_of(by))
        assert (refused.value.code, refused.value.field) == ("scope_not_found", "constraints.scope")
    for reader in (*readers, *(by for by, _scope, _is_research in wanted)):
        mine = {job.id for job, by, scope in made if reads(reader, by, scope)}
        assert seen_in_lists(desk, reader) == sorted(mine, reverse=True)
        for job, _by, _scope in made:
            doors = (desk.job, desk.entries, desk.bundle)
            assert {opens(door, job.id, reader) for door in doors} == {job.id in mine}


def reads(reader: Reader, by: Reader, scope: ScopeKey | None) -> bool:
    """What the rule is, in other words than the desk's."""
    if reader.tenant != by.tenant:
        return False
    if scope is None:
        return True
    if by.every_scope or reader.every_scope:
        return by.every_scope and reader.every_scope
    return scope in reader.scopes


def seen_in_lists(desk: Desk, reader: Reader) -> list[str]:
    found: list[str] = []
    cursor = ""
    for _ in range(20):
        page = desk.jobs(reader, limit=2, cursor=cursor)
        found += [each.id for each in page.jobs]
        cursor = page.next_cursor or ""
        if not cursor:
            return found
    raise AssertionError("the pages did not come to an end")


def opens(door: Callable[[str, Reader], object], job_id: str, reader: Reader) -> bool:
    try:
        door(job_id, reader)
    except NotFound as refused:
        return refused.code != "job_not_found"
    return True


def test_owners_are_no_tenants() -> None:
    named = {owner_of("red", OURS), owner_of("blue", OURS), owner_of("red", THEIRS)}
    assert len(named) == 3
    store = TokenStore(Path("never-written"))
    for each in named:
        with pytest.raises(Invalid):
            store.create(each, ["read"], {}, now_ms=0)


# --- without a gateway ------------------------------------------------------------------------------------------------


def test_the_machines_own_user_may_ask_every_scope(redis: Redis, redis_url: str) -> None:
    """Next to the store, where the files of the memory are in reach; the same person over HTTP may not."""
    figures = load(redis_url=redis_url)
    own, over_http = LocalTransport(figures, OWN_MACHINE), LocalTransport(figures, LOCAL)
    try:
        job = own.submit(asked(), idempotency_key="k")
        assert own.job(job.id).id == job.id
        assert [each.id for each in own.jobs(state=None, limit=None, cursor=None)[0]] == [job.id]
        with pytest.raises(NotFound):
            over_http.job(job.id)
        with pytest.raises(NotFound):
            over_http.submit(asked(), idempotency_key="l")
    finally:
        own.close()
        over_http.close()


def test_a_token_next_to_the_store_has_its_grants_and_no_more(redis: Redis, redis_url: str) -> None:
    granted = Principal(tenant="red", scopes=frozenset({"read", "write"}), research=(OURS,))
    assert reader_of(granted) == Reader(tenant="red", scopes=(OURS,))
    transport = LocalTransport(load(redis_url=redis_url), granted)
    try:
        job = transport.submit(asked(), idempotency_key="k")
        assert transport.job(job.id).id == job.id
        with pytest.raises(NotFound):
            transport.submit(asked(THEIRS), idempotency_key="l")
    finally:
        transport.close()
