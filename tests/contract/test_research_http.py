"""Research memory over HTTP: for tokens with the very scope, and for everybody else nothing at this address."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from signal_search.contracts.research import ScopeKey

from infra.settings import Settings
from infra.tokens import TokenStore, tokens_path
from tests.fakes.research import Shelf, a_memory, a_scope
from tests.fakes.search_stack import serving

OURS, THEIRS = a_scope(), a_scope(branch="other")
PATH = "/v1/research/query"


def a_token(settings: Settings, tenant: str, *scopes: ScopeKey) -> dict[str, str]:
    store = TokenStore.load(tokens_path(settings))
    token, _record = store.create(tenant, ["read", "write"], {}, now_ms=0, research=scopes)
    return {"authorization": f"Bearer {token}"}


@pytest.fixture(scope="module")
def served(
    redis_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[httpx.Client, Settings]]:
    folder = tmp_path_factory.mktemp("research")
    shelf = Shelf(folder / "memory")
    for scope in (OURS, THEIRS):
        shelf.publish(a_memory("m", f"alpha of {scope.branch}", scope))
    research = {"folder": str(Path(folder / "memory")), "vectors": "off"}
    with serving(redis_url, folder, research=research) as found:
        # While no token is configured nobody has a grant.
        assert found.http.post(PATH, json=asked()).status_code == 404
        yield found.http, found.settings


def asked(query: str = "alpha", scope: ScopeKey = OURS, **more: Any) -> dict[str, Any]:
    named = {part: getattr(scope, part) for part in scope.__struct_fields__}
    return {"query": query, "scope": named, **more}


def test_only_a_granted_scope_answers(served: tuple[httpx.Client, Settings]) -> None:
    http, settings = served
    granted, plain = a_token(settings, "ann", OURS), a_token(settings, "ann")
    reply = http.post(PATH, json=asked(), headers=granted)
    assert reply.status_code == 200, reply.text
    found = reply.json()
    assert found["kind"] == "research"
    assert [each["content"] for each in found["answer"]["evidence"]] == ["note m\n\nalpha of main"]
    assert all(each["scope"] == asked()["scope"] for each in found["answer"]["evidence"])
    refusals = [
        http.post(PATH, json=asked(), headers=plain),
        http.post(PATH, json=asked(scope=THEIRS), headers=granted),
        http.post(PATH, json=asked(scope=a_scope(branch="never was")), headers=granted),
        http.post(PATH, content=b"{", headers={**plain, "content-type": "application/json"}),
    ]
    bodies = {
        (each.status_code, each.json()["detail"]["code"], each.json()["detail"]["message"])
        for each in refusals
    }
    assert bodies == {(404, "not_found", "There is nothing at this address.")}


def test_an_answer_is_not_among_the_tenants_jobs(served: tuple[httpx.Client, Settings]) -> None:
    http, settings = served
    granted = a_token(settings, "bob", OURS)
    job_id = http.post(PATH, json=asked(), headers=granted).json()["job_id"]
    plain = a_token(settings, "bob")
    assert http.get("/v1/jobs", headers=plain).json()["jobs"] == []
    for path in ("", "/result", "/bundle", "/events"):
        assert http.get(f"/v1/jobs/{job_id}{path}", headers=plain).status_code == 404


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"query": " "}, "query"),
        ({"limit": 0}, "limit"),
        ({"scope": {"team_id": "x"}}, "scope"),
        (
            {"scope": {**dict.fromkeys(OURS.__struct_fields__, "x"), "branch": "x\n"}},
            "scope.branch",
        ),
        ({"scope": {**dict.fromkeys(OURS.__struct_fields__, "x"), "branch": " x"}}, "scope.branch"),
        ({"scope": {**dict.fromkeys(OURS.__struct_fields__, "x"), "more": "x"}}, None),
        ({"tool_rounds": [[1]]}, "tool_rounds[0][0]"),
        ({"unknown": 1}, None),
    ],
)
def test_bad_input_is_refused(
    served: tuple[httpx.Client, Settings], change: dict[str, Any], field: str | None
) -> None:
    http, settings = served
    reply = http.post(PATH, json={**asked(), **change}, headers=a_token(settings, "cid", OURS))
    assert reply.status_code == 422
    if field is not None:
        assert reply.json()["detail"]["field"].startswith(field)


def test_a_plan_of_the_callers_own_is_checked(served: tuple[httpx.Client, Settings]) -> None:
    http, settings = served
    reply = http.post(
        PATH, json=asked(tool_rounds=[["shell"]]), headers=a_token(settings, "dan", OURS)
    )
    found = reply.json()["answer"]
    assert (found["evidence"], found["rejections"]) == ([], ["plan:manual_unknown_tool"])
