"""Research memory as a source of a job: one answer from both, whatever crashes, and nothing of it anywhere else."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from redis import Redis
from signal_search.contracts.budget import Budget
from signal_search.contracts.finding import Verdict
from signal_search.contracts.query import Constraints, RetrieveRequest, SourcePrefs, Tier
from signal_search.contracts.research import ScopeKey
from signal_search.contracts.result import Result
from signal_search.contracts.trace import FetchQueued, Judged, Recalled

from infra import keys
from infra.bundle import pack, unpack
from infra.clock import FixedClock
from tests.fakes.research import NOW_MS, Shelf, a_memory, a_scope
from tests.fakes.spine import ENCYCLOPEDIA, SITE, Fuse, Spine, charged
from workers.memory.index_file import IndexFile
from workers.memory.indexing import sync
from workers.memory.scope import scope_digest
from workers.pipeline.replay import replay

OURS, THEIRS = a_scope(), a_scope(branch="other")
NOTE = "Mount Ansel is 2,114 metres high, as our own survey of 2024 says."
THEIR_NOTE = "Mount Ansel is 9,999 metres high, as nobody else may read."
DATED = a_scope(branch="dated")
DAY_2025_MS, DAY_2019_S = 1_735_689_600_000, 1_561_939_200  # the firsts of January and of July
ROOT = Path(__file__).parents[2]


def asked(*only: str, scope: ScopeKey | None = OURS, **more: Any) -> RetrieveRequest:
    budget = more.pop("budget", None)
    prefs = SourcePrefs(only=only, block=more.pop("block", ()))
    constraints = Constraints(required_tier=Tier.L1, scope=scope, source_prefs=prefs, **more)
    return RetrieveRequest(query="How high is Mount Ansel?", constraints=constraints, budget=budget)


BOTH = asked(f"site:{SITE}")


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    made = Shelf(tmp_path / "memory")
    fill(made)
    return made


def fill(shelf: Shelf) -> None:
    shelf.publish(a_memory("m1", NOTE, OURS, title="Survey of Mount Ansel"))
    shelf.publish(a_memory("m2", THEIR_NOTE, THEIRS))
    shelf.index(OURS, {"notes/ansel.md": "The hut of Mount Ansel was built in 1931."})


def a_spine(redis_url: str, shelf: Shelf, **changes: Any) -> Spine:
    research = {"folder": str(shelf.folder), "vectors": "off"}
    return Spine(redis_url, research={**research, **changes.pop("research", {})}, **changes)


def answered(spine: Spine, request: RetrieveRequest) -> Result:
    spine.submit(request=request)
    spine.drive()
    return spine.result()


def outcomes(result: Result) -> dict[str, tuple[str, str]]:
    return {each.source_id: (each.state, each.reason) for each in result.source_outcomes}


@pytest.mark.usefixtures("redis")
def test_memory_and_web_are_one_answer(redis_url: str, shelf: Shelf) -> None:
    spine = a_spine(redis_url, shelf)
    result = answered(spine, BOTH)
    assert {each.url: each.source_id for each in result.sources} == {
        "memory://local/records/m1": "memory",
        "memory://local/files/notes/ansel.md": "memory",
        SITE + "ansel": f"site:{SITE}",
    }
    assert {number for each in result.findings for number in each.citations} == {1, 2, 3}
    # One is checked against the other: they are different voices.
    claims = [claim for each in result.findings for claim in each.claims if "2,114" in claim.text]
    assert [each.verdict for each in claims] == [Verdict.TRUE] * 2
    [ours] = [each for each in claims if each.text.endswith("metres high.")]
    assert {each.url.partition(":")[0] for each in ours.supporting} == {"memory", "https"}
    reasons = {each.credibility.reason for each in result.scores if each.url[:7] == "memory:"}
    assert reasons == {"source type internal, declared by the source"}
    assert outcomes(result)["memory"] == ("answered", "")
    assert "9,999" not in msgspec.json.encode(result).decode()
    assert spine.used() == charged(result)


@pytest.mark.usefixtures("redis")
def test_the_trace_says_how_memory_answered(redis_url: str, shelf: Shelf) -> None:
    result = answered(a_spine(redis_url, shelf), BOTH)
    [told] = [each.data for each in result.trace if each.name == "recalled"]
    assert [
        (each["tool_name"], each["reason"], each["candidate_count"]) for each in told["channels"]
    ] == [("research-memory", "accepted", 1), ("bm25", "accepted", 1)]
    assert (told["partial"], told["rejections"], told["scope_leak_count"]) == (False, [], 0)
    assert told["degradations"] == ["planner_llm_disabled"]


@pytest.mark.usefixtures("redis")
def test_a_job_without_a_scope_asks_no_memory(redis_url: str, shelf: Shelf) -> None:
    result = answered(a_spine(redis_url, shelf), asked(f"site:{SITE}", scope=None))
    assert list(outcomes(result)) == [f"site:{SITE}"]


@pytest.mark.usefixtures("redis")
def test_memory_that_is_blocked_is_not_asked(redis_url: str, shelf: Shelf) -> None:
    result = answered(a_spine(redis_url, shelf), asked(f"site:{SITE}", block=("memory",)))
    assert list(outcomes(result)) == [f"site:{SITE}"]


@pytest.mark.usefixtures("redis")
def test_files_are_cited_by_path_and_lines(redis_url: str, shelf: Shelf) -> None:
    request = RetrieveRequest(
        query="When was the hut of Mount Ansel built?", constraints=asked("memory").constraints
    )
    result = answered(a_spine(redis_url, shelf), request)
    assert result.sources[0].url == "memory://local/files/notes/ansel.md"
    assert "1931" in result.answer


@pytest.mark.usefixtures("redis")
def test_memory_alone_asks_nothing_else(redis_url: str, shelf: Shelf) -> None:
    """No request, no model: though the settings name one for memory and one for claims."""
    spine = a_spine(
        redis_url,
        shelf,
        verify={"judge": "operator"},
        search={
            "agent_base_url": "http://model.test/v1",
            "agent_model": "any",
            "agent_api_key": "key",
        },
        research={
            "llm_enabled": True,
            "llm_base_url": "https://api.siliconflow.cn/v1",
            "llm_model": "any",
            "llm_api_key": "key",
        },
    )
    result = answered(spine, asked("memory"))
    assert list(outcomes(result)) == ["memory"]
    assert [each.url for each in result.sources][:1] == ["memory://local/records/m1"]
    assert not spine.fetched
    queued = [each for each in spine.entries() if isinstance(each, FetchQueued)]
    assert [(each.host, each.disposition) for each in queued] == [("local", "local")]
    assert not [each for each in spine.entries() if isinstance(each, Judged)]
    [recalled] = [each for each in spine.entries() if isinstance(each, Recalled)]
    assert "planner_llm_disabled" in recalled.degradations


@pytest.mark.usefixtures("redis")
def test_the_operators_model_never_judges_what_is_of_a_scope(redis_url: str, shelf: Shelf) -> None:
    model = {"agent_base_url": "http://model.test/v1", "agent_model": "any", "agent_api_key": "key"}
    spine = a_spine(redis_url, shelf, verify={"judge": "operator"}, search=model)
    result = answered(spine, BOTH)
    [noted] = [each for each in spine.entries() if isinstance(each, Judged)]
    assert (noted.pairs, noted.verdicts, noted.error) == ((), (), "withheld")
    assert "judge of the operator: withheld" in result.degradations
    assert (result.usage.judge_requests, result.usage.model_tokens) == (0, 0)
    assert spine.used() == charged(result)
    reasons = {claim.reason for each in result.findings for claim in each.claims}
    plain = a_spine(redis_url, shelf)
    plain.redis.flushall()
    expected = answered(plain, BOTH)  # as where nobody judges
    assert reasons == {claim.reason for each in expected.findings for claim in each.claims}
    assert (result.answer, expected.degradations) == (expected.answer, ())


@pytest.mark.usefixtures("redis")
def test_nothing_is_withheld_where_nothing_would_have_been_asked(
    redis_url: str, shelf: Shelf
) -> None:
    """One voice has nothing that a judge could compare; and no judge is missed where none is set."""
    model = {"agent_base_url": "http://model.test/v1", "agent_model": "any", "agent_api_key": "key"}
    spine = a_spine(redis_url, shelf, verify={"judge": "operator"}, search=model)
    result = answered(spine, asked("memory"))
    assert not [each for each in result.degradations if each.startswith("judge")]


@pytest.mark.usefixtures("redis")
def test_empty_memory_is_no_evidence(redis_url: str, shelf: Shelf) -> None:
    result = answered(a_spine(redis_url, shelf), asked("memory", scope=a_scope(branch="new")))
    assert (result.findings, result.confidence) == ((), 0)
    assert outcomes(result)["memory"] == ("failed", "index_unavailable:bm25")


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (["memory"], ("answered", "")),
        (["index"], ("partly", "bm25")),
        (["memory", "index"], ("failed", "")),
    ],
)
@pytest.mark.usefixtures("redis")
def test_a_broken_store_is_the_trouble_of_one_source(
    redis_url: str, shelf: Shelf, kinds: list[str], expected: tuple[str, str]
) -> None:
    """What the other channel and the web have found stays."""
    for kind in kinds:
        (shelf.folder / f"{scope_digest(OURS)}.{kind}").write_bytes(b"no database" * 1000)
    result = answered(a_spine(redis_url, shelf), BOTH)
    state, reason = outcomes(result)["memory"]
    assert state == expected[0]
    assert reason.endswith(expected[1])
    assert SITE + "ansel" in {each.url for each in result.sources}
    assert any(each.startswith("memory: ") for each in result.degradations)


@pytest.mark.usefixtures("redis")
def test_a_budget_without_calls_asks_no_memory(redis_url: str, shelf: Shelf) -> None:
    result = answered(a_spine(redis_url, shelf), asked("memory", budget=Budget(calls=0)))
    assert (result.findings, result.usage.calls) == ((), 0)


@pytest.mark.usefixtures("redis")
def test_a_budget_without_tokens_refuses_memory_with_the_reason(
    redis_url: str, shelf: Shelf
) -> None:
    spine = a_spine(redis_url, shelf)
    result = answered(spine, asked("memory", budget=Budget(tokens=1)))
    assert outcomes(result)["memory"] == ("refused", "budget")
    assert (spine.used(), spine.held()) == ({}, {})


@pytest.mark.usefixtures("redis")
def test_memory_has_no_domain(redis_url: str, shelf: Shelf) -> None:
    result = answered(a_spine(redis_url, shelf), asked(f"site:{SITE}", domain="site.test"))
    assert "memory" in {each.source_id for each in result.sources}
    assert "constraint not honoured by memory: domain" in result.warnings


def keep_dated(shelf: Shelf, folder: Path) -> None:
    """A memory of 2025 and a file of 2019, in a job of 2026-09-21."""
    shelf.clock = FixedClock(DAY_2025_MS)
    shelf.publish(a_memory("old", NOTE, DATED, title="Survey of Mount Ansel"))
    (folder / "ansel.md").write_text("The summit of Mount Ansel: 2,114 metres high.\n")
    os.utime(folder / "ansel.md", (DAY_2019_S, DAY_2019_S))
    sync(folder, IndexFile(shelf.folder, DATED), FixedClock(NOW_MS))


@pytest.mark.parametrize(
    ("freshness", "kept"),
    [
        (None, {("2025-01-01", "updated"), ("2019-07-01", "modified")}),
        ("2024-12-31..2025-01-01", {("2025-01-01", "updated")}),
        ("2019-01-01..2019-12-31", {("2019-07-01", "modified")}),
        ("py", set()),
    ],
)
@pytest.mark.usefixtures("redis")
def test_memory_has_days_and_a_freshness_is_kept_with_them(
    redis_url: str, shelf: Shelf, tmp_path: Path, freshness: str | None, kept: set[tuple[str, str]]
) -> None:
    keep_dated(shelf, tmp_path)
    request = asked("memory", scope=DATED, freshness=freshness)
    result = answered(a_spine(redis_url, shelf), request)
    assert {(each.published, each.date_kind) for each in result.sources} == kept
    assert outcomes(result)["memory"][0] == ("answered" if kept else "filtered")
    assert not [each for each in result.warnings if "without a publication date" in each]


@pytest.mark.usefixtures("redis")
def test_what_is_older_weighs_less(redis_url: str, shelf: Shelf, tmp_path: Path) -> None:
    keep_dated(shelf, tmp_path)
    result = answered(a_spine(redis_url, shelf), asked("memory", scope=DATED))
    recency = {
        each.published: score.recency.value
        for each, score in zip(result.sources, result.scores, strict=True)
    }
    # Half in four years (facts): 628 days since the first of 2025, 2,639 since the first of July of 2019.
    assert recency == {"2025-01-01": 0.7422, "2019-07-01": 0.2857}


@pytest.mark.usefixtures("redis")
def test_personal_data_is_taken_out_of_what_is_kept(redis_url: str, shelf: Shelf) -> None:
    shelf.publish(a_memory("m3", "Ask ann.lee@corp.example how high Mount Ansel is.", OURS))
    spine = a_spine(redis_url, shelf)
    answered(spine, asked("memory"))
    told = msgspec.json.encode(spine.entries()).decode()
    texts = [each.text for each in documents_of(spine)]
    assert any("how high Mount Ansel is" in each for each in texts)
    assert "ann.lee@corp.example" not in "".join([told, *texts])


def documents_of(spine: Spine, job_id: str = "job_1") -> list[Any]:
    names = spine.redis.hkeys(keys.job_documents(job_id))
    return list(spine.tools.log.documents(job_id, [each.decode() for each in names]).values())


def test_nothing_of_a_scope_is_kept_where_other_jobs_read(
    redis: Redis, redis_url: str, shelf: Shelf
) -> None:
    """Every key that a job of memory alone leaves is its own, or has nothing of its words or its scope."""
    spine = a_spine(redis_url, shelf)
    answered(spine, asked("memory"))
    for name in redis.scan_iter():
        if b"{j:job_1}" in name:
            continue
        raw = redis.dump(name)
        assert raw is not None
        assert not any(word in raw for word in (b"2,114", b"Ansel", b"m1", b"project")), name
    assert redis.exists(keys.source_health("memory")) == 0
    result = answered_as(spine, "job_2", asked(f"site:{SITE}", scope=None))
    assert "memory:" not in msgspec.json.encode(result).decode()


def answered_as(spine: Spine, job_id: str, request: RetrieveRequest) -> Result:
    spine.submit(job_id, request=request)
    spine.drive(job_id)
    return spine.result(job_id)


@pytest.mark.usefixtures("redis")
def test_a_bundle_replays_without_the_memory(redis_url: str, shelf: Shelf) -> None:
    spine = a_spine(redis_url, shelf)
    spec = spine.submit(request=BOTH)
    spine.drive()
    raw = spine.tools.store.result("job_1")
    assert raw is not None
    bundle = pack(spec, spine.tools.log.read("job_1"), documents_of(spine), raw)
    for each in shelf.folder.rglob("*"):
        if each.is_file():
            each.unlink()
    assert replay(unpack(bundle)).same


# --- whatever crashes -------------------------------------------------------------------------------------------------


def without_trace(result: Result) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(result)
    return {name: value for name, value in plain.items() if name != "trace"}


@cache
def calls_of(redis_url: str, folder: Path) -> tuple[str, ...]:
    shelf = Shelf(folder)
    spine = a_spine(redis_url, shelf)
    spine.submit(request=asked("memory"))
    fuse = Fuse()
    spine.wire(fuse)
    spine.drive()
    return tuple(fuse.passed)


def test_a_step_that_is_killed_anywhere_is_completed(
    redis: Redis, redis_url: str, shelf: Shelf
) -> None:
    """At every write, before and after: one answer, one charge, memory noted once."""
    calls = calls_of(redis_url, shelf.folder)
    redis.flushall()
    expected = without_trace(answered(a_spine(redis_url, shelf), asked("memory")))
    for at in range(len(calls)):
        redis.flushall()
        spine = a_spine(redis_url, shelf)
        spine.submit(request=asked("memory"))
        spine.wire(Fuse(at))
        spine.drive()
        assert spine.crashes == 1, calls[at]
        assert without_trace(spine.result()) == expected, calls[at]
        assert (spine.used(), spine.held()) == (charged(spine.result()), {}), calls[at]
        assert len([each for each in spine.entries() if isinstance(each, Recalled)]) == 1


def test_lost_bells_are_rung_again(redis: Redis, redis_url: str, shelf: Shelf) -> None:
    expected = answered(a_spine(redis_url, shelf), asked("memory"))
    redis.flushall()
    spine = a_spine(redis_url, shelf)
    spine.submit(request=asked("memory"))
    for _ in range(60):
        spine.bells.clear()
        if spine.is_over():
            break
        spine.look()
        for task, step_id in list(spine.bells):
            spine.bells.clear()
            spine.try_step(task, step_id)
        spine.clock.advance(2_000)
    found = spine.result()
    assert (found.answer, found.findings) == (expected.answer, expected.findings)


# --- nothing leaves the machine ---------------------------------------------------------------------------------------

LOCAL_ONLY = """
import sys, time
seen = []
def note(event, args):
    if event == "socket.connect" and not isinstance(args[1], str):
        seen.append((event, args[1]))  # a text is the path of the store's own socket
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        seen.append((event, args[-1]))
sys.addaudithook(note)
from api_gateway.auth import OWN_MACHINE
from api_gateway.local import LocalTransport
from infra.settings import load
from signal_search.contracts.query import Constraints, RetrieveRequest, SourcePrefs
from tests.fakes.research import Shelf, a_memory, a_scope
from workers.direct import DirectWalk
from pathlib import Path
shelf = Shelf(Path(sys.argv[2]))
shelf.publish(a_memory("m1", "Mount Ansel is 2,114 metres high.", a_scope()))
settings = load(redis_url=sys.argv[1], research={"folder": sys.argv[2], "vectors": "off"})
walk = DirectWalk(settings)
walk.start()
desk = LocalTransport(settings, OWN_MACHINE)
only = Constraints(scope=a_scope(), source_prefs=SourcePrefs(only=("memory",)))
asked = RetrieveRequest(query="How high is Mount Ansel?", constraints=only)
job = desk.submit(asked, idempotency_key="k")
for _line in desk.events(job.id, after="", wait_s=25):
    pass
result = desk.result(job.id)
assert [each.url for each in result.sources] == ["memory://local/records/m1"], result
desk.close()
walk.stop()
print(len(seen), seen)
"""


@pytest.mark.timeout(120)  # it loads everything once more
@pytest.mark.usefixtures("redis")
def test_memory_alone_opens_no_socket_to_the_outside(redis_url: str, tmp_path: Path) -> None:
    """The whole walk with its fetch loop, in a process of its own, by the interpreter's own account."""
    run = subprocess.run(
        [sys.executable, "-c", LOCAL_ONLY, redis_url, str(tmp_path / "memory")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.splitlines()[-1:] == ["0 []"], run.stderr


@pytest.mark.usefixtures("redis")
def test_the_words_that_are_sent_are_the_callers(redis_url: str, shelf: Shelf) -> None:
    """What memory says changes no request to the web."""
    urls = []
    for memory in (True, False):
        request = asked("wikipedia", f"site:{SITE}", scope=OURS if memory else None)
        spine = a_spine(redis_url, shelf)
        spine.redis.flushall()
        answered(spine, request)
        urls.append(sorted(spine.fetched))
    assert urls[0] == urls[1]
    assert ENCYCLOPEDIA.site == "wikipedia.org"
