"""Random scopes over HTTP: through no address does a caller see, change or learn of one that was not granted."""

import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from signal_search.contracts.research import ScopeKey

from tests.fakes.memory_http import (
    TOKEN_DIGEST,
    Caller,
    Library,
    a_library,
    a_receipt,
    done,
    refused,
)

PARTS = st.sampled_from(
    ["a", "A", "a b", "a,b", "*", "a--b", "ａ", "甲", '"', "' OR 1=1 --", "%2e", "&b=c"]
)
SCOPES = st.builds(
    ScopeKey,
    team_id=PARTS,
    project_id=PARTS,
    repository=PARTS,
    branch=PARTS,
    experiment_environment=PARTS,
)
NUMBERS = count()
NOTHING = (404, "not_found", None)


class Filled(NamedTuple):
    """What was put into a scope, and by whom: a word that stands nowhere else, and the ids of its records."""

    scope: ScopeKey
    word: str
    memory_id: str
    package: dict[str, Any]
    run_id: str


@pytest.fixture(scope="module")
def library(redis_url: str) -> Iterator[Library]:
    with tempfile.TemporaryDirectory() as folder, a_library(redis_url, Path(folder)) as found:
        found.caller("first")
        yield found


def fill(library: Library, scope: ScopeKey) -> Filled:
    ann, bob = (library.caller("own", scope, person=each) for each in ("ann", "bob"))
    word = f"secret{next(NUMBERS)}"
    memory_id = ann.kept(scope, word, title=word)
    for step in ("verify", "publish"):
        done(ann.move(memory_id, step, scope))
    case = ann.kept(scope, word, title=word, kind="research_case")
    package = ann.asked(case, scope)
    done(bob.post(f"/approvals/{package['package_id']}/decision", scope, decision="approved"))
    run = done(ann.post("/verifications", scope, **a_receipt(package)), 201)
    return Filled(scope, word, memory_id, package, run["run_id"])


def records(caller: Caller, asked: ScopeKey, of: Filled) -> Iterator[httpx.Response]:
    """Yield the answers of all addresses of a record, asked in a scope that may be another's."""
    at = f"/approvals/{of.package['package_id']}"
    yield caller.get(f"/memories/{of.memory_id}", asked)
    yield caller.get(f"/memories/{of.memory_id}/audit", asked)
    yield caller.get(at, asked)
    yield caller.get(f"/verifications/{of.run_id}", asked)
    yield caller.post(f"{at}/decision", asked, decision="rejected")
    yield caller.post("/verifications", asked, **a_receipt(of.package, receipt_id="step-2"))
    yield caller.move(of.memory_id, "revoke", asked)
    body = {"case_memory_id": of.package["case_memory_id"], "payload": {}}
    yield caller.post("/approvals", asked, **body, receipt_token_digest=TOKEN_DIGEST)


def lists(caller: Caller, asked: ScopeKey, word: str) -> Iterator[httpx.Response]:
    """Yield the answers of all addresses that find something by themselves."""
    for path in ("/memories", "/approvals", "/verifications"):
        yield caller.get(path, asked)
    yield caller.post("/query", asked, query=word)


def ids_of(each: Filled) -> tuple[str, ...]:
    return (each.word, each.memory_id, each.package["package_id"], each.run_id)


@pytest.mark.timeout(120)
@settings(
    max_examples=4,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    scopes=st.lists(SCOPES, min_size=1, max_size=2, unique=True),
    near=st.integers(0, 4),
)
def test_scopes_never_see_each_other(library: Library, scopes: list[ScopeKey], near: int) -> None:
    # One more that differs from the first in one name alone.
    name = ScopeKey.__struct_fields__[near]
    twin = {part: getattr(scopes[0], part) for part in ScopeKey.__struct_fields__}
    twin[name] += "x"
    filled = [fill(library, each) for each in (*scopes, ScopeKey(**twin))]
    for mine in filled:
        caller = library.caller("own", mine.scope, person="eve")
        others = [each for each in filled if each.scope != mine.scope]
        for other in others:
            # Their scope, whatever is in it, is nothing; and their records are not in mine.
            for reply in (
                *lists(caller, other.scope, other.word),
                *records(caller, other.scope, other),
                *records(caller, other.scope, mine),
            ):
                assert refused(reply) == NOTHING
            for reply in records(caller, mine.scope, other):
                assert reply.status_code == 404, reply.text
            for reply in lists(caller, mine.scope, other.word):
                assert reply.status_code == 200
                assert not any(each in reply.text for each in ids_of(other))
        # And nothing of the above changed mine.
        memory = done(caller.get(f"/memories/{mine.memory_id}", mine.scope))
        assert (memory["status"], memory["content"]) == ("published", mine.word)
        found = done(caller.post("/query", mine.scope, query=mine.word))["answer"]["evidence"]
        assert [each["chunk_id"] for each in found] == [f"research:{mine.memory_id}"]
        trail = done(caller.get(f"/memories/{mine.memory_id}/audit", mine.scope))["audit"]
        assert len(trail) == 3
