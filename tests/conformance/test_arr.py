"""The research memory as its guide's authors measured theirs (CONFORMANCE_DIR/arr.json)."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from signal_search.contracts.research import (
    EvidenceChunk,
    MemoryKind,
    MemoryStatus,
    ResearchMemory,
    ScopeKey,
)
from signal_search.errors import JudgeFailed, JudgeTimedOut
from signal_search.receipts import event_key, payload_hash

from infra.clock import FixedClock
from infra.llm_reply import read_reply
from tests.conformance.cases import FOLDER, deviations
from workers.memory.admission import Admission
from workers.memory.bm25 import Bm25
from workers.memory.credentials import is_sensitive_name, is_sensitive_text
from workers.memory.fusing import fuse_channels
from workers.memory.grep import Grep, GrepLimits
from workers.memory.index_file import IndexFile
from workers.memory.metrics import evaluate_ranking
from workers.memory.model_planner import ModelPlanner
from workers.memory.model_settings import is_allowed, read_model_settings
from workers.memory.policy import confidence, is_usable
from workers.memory.postings import Passage, add
from workers.memory.reading import BadProposal, read_plan, read_scores
from workers.memory.reranking import RuleReranker
from workers.memory.router import Router, RouterRules
from workers.memory.tool import Retrieved
from workers.memory.words import words

NOW_MS = 1_790_000_000_000
NOW = datetime.fromtimestamp(NOW_MS / 1000, UTC)
SCOPE = ScopeKey(
    team_id="team",
    project_id="project",
    repository="repo",
    branch="main",
    experiment_environment="test",
)
OTHER = ScopeKey(
    team_id="team",
    project_id="project",
    repository="repo",
    branch="other",
    experiment_environment="test",
)


def chunk(
    name: str,
    content: str = "x",
    source: str = "s",
    locator: str | None = None,
    score: float | None = None,
) -> EvidenceChunk:
    return EvidenceChunk(
        chunk_id=name,
        scope=SCOPE,
        content=content,
        source_ref=source,
        locator=locator,
        metadata={} if score is None else {"rrf_score": score},
    )


# --- words and indexes ------------------------------------------------------------------------------------------------


def check_tokenize(case: Any, _folder: Path) -> None:
    text, expected = case
    assert words(text) == expected


def check_bm25(case: Any, folder: Path) -> None:
    """The figures of the first rule for words; the index that is built otherwise uses the second one."""
    file = IndexFile(folder, SCOPE, analyser="words-1")
    passages = [
        Passage(chunk_id=name, source_ref=name, content=text) for name, text in case["documents"]
    ]
    with file.writing() as (db, header):
        add(db, header, passages)
    found = Bm25(file).search(case["query"], 10)
    assert [each.chunk.chunk_id for each in found] == [name for name, _score in case["ranked"]]
    assert [each.score for each in found] == pytest.approx(
        [score for _name, score in case["ranked"]], abs=1e-9
    )


def check_bm25_file_name(case: Any, folder: Path) -> None:
    assert IndexFile(folder, SCOPE).path.name == case


def check_rrf(case: Any, _folder: Path) -> None:
    lists = [
        [chunk(name, name, source, place) for name, source, place in each] for each in case["lists"]
    ]
    fused = fuse_channels(lists)
    if case["expect"] == "error":
        pytest.fail("nothing raises: the one candidate is dropped")
    assert [each.chunk_id for each in fused.chunks] == [name for name, _score in case["expect"]]
    scores = [each.metadata["rrf_score"] for each in fused.chunks]
    assert scores == pytest.approx([score for _name, score in case["expect"]], abs=1e-12)


def check_rule_rerank(case: Any, _folder: Path) -> None:
    given = [chunk(*each) for each in case["candidates"]]
    made = RuleReranker().rerank(case["query"], given)
    if case["expect"] == "error":
        assert made.degradation == "reranker_error"
        assert list(made.chunks) == given
        return
    assert [each.chunk_id for each in made.chunks] == [name for name, _score in case["expect"]]
    scores = [each.rerank_score for each in made.chunks]
    assert scores == pytest.approx([score for _name, score in case["expect"]], abs=1e-9)


# --- a model's settings and words -------------------------------------------------------------------------------------


def check_endpoint_allowlist(case: Any, _folder: Path) -> None:
    assert is_allowed(case[0]) is case[1]


def check_env_settings(case: Any, _folder: Path) -> None:
    found = read_model_settings(case["env"])
    assert (found.refusal or None, found.timeout_s) == (case["degradation"], case["timeout"])


def _said(body: str) -> str:
    return read_reply(body.encode(), most_bytes=65_536).text


def check_planner_parse(case: Any, _folder: Path) -> None:
    try:
        found: object = [list(each) for each in read_plan(_said(case["body"]))]
    except JudgeFailed as error:
        found = {"model_response_invalid": "planner_invalid_response"}[error.code]
    except BadProposal as error:
        found = error.reason
    assert found == case["expect"]


def check_rerank_parse(case: Any, _folder: Path) -> None:
    if case["expect"] == "error":
        with pytest.raises((BadProposal, JudgeFailed)):
            read_scores(_said(case["body"]), ["1"])
        return
    found = read_scores(_said(case["body"]), [name for name, _score in case["expect"]])
    assert [[name, score] for name, (score, _why) in found.items()] == case["expect"]


# --- grep -------------------------------------------------------------------------------------------------------------


def check_grep_sensitive_names(case: Any, _folder: Path) -> None:
    assert is_sensitive_name(case[0]) is case[1]


def check_grep_sensitive_content(case: Any, _folder: Path) -> None:
    assert is_sensitive_text(case[0]) is case[1]


def check_grep_limits(case: Any, _folder: Path) -> None:
    assert getattr(GrepLimits(), case[0]) == case[1]


def check_grep_search(case: Any, folder: Path) -> None:
    for name, text in case["files"].items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        body = text.encode()
        path.write_bytes(body.replace(b"byte 0xFF", b"byte \xff") if name == "bad.txt" else body)
    found = Grep(folder, SCOPE).search(case["query"])
    assert [[each.source_ref, each.locator, each.content] for each in found.chunks] == case[
        "expect"
    ]
    source, place, name = case["example"]
    named = {(each.source_ref, each.locator): each.chunk_id for each in found.chunks}
    assert named[source, place] == name


# --- the router -------------------------------------------------------------------------------------------------------


class GivenTool:
    """A tool as a case describes it."""

    def __init__(self, given: Any, *, differs: bool) -> None:
        self.given = given
        self.differs = differs
        self.calls = 0
        self.name = given["name"]
        self.provider = given["provider"]
        self.read_only = given["read_only"]

    def index_updated_at(self, scope: ScopeKey) -> datetime | None:
        age = self.given["age_seconds"]
        return None if age is None else NOW - timedelta(seconds=age)

    def retrieve(self, query: str, scope: ScopeKey) -> Retrieved:
        self.calls += 1
        if self.given["error"]:
            raise RuntimeError
        if self.given["returns_non_evidence"]:
            return Retrieved(("text",))  # type: ignore[arg-type]
        content = self.name if self.differs else "x"
        made = [
            EvidenceChunk(
                chunk_id=name, scope=SCOPE if ours else OTHER, content=content, source_ref="s"
            )
            for name, ours in self.given["chunks"]
        ]
        return Retrieved(tuple(made))


def _ask(planner: Any) -> Callable[[str, str], str]:
    def ask(_system: str, _user: str) -> str:
        if planner == "planner_timeout":
            raise JudgeTimedOut
        return json.dumps({"tool_rounds": planner, "reason": "r"})

    return ask


def check_router(case: Any, _folder: Path) -> None:
    tools = [
        GivenTool(each, differs="identity conflict" in case["title"]) for each in case["tools"]
    ]
    planner = case["planner"]
    most_s = case["settings"].get("max_index_age_seconds", 86_400)
    router = Router(
        tools,
        FixedClock(NOW_MS),
        planner=None if planner is None else ModelPlanner(_ask(planner)),
        reranker=RuleReranker("llm_disabled") if case["reranker"] else None,
        rules=RouterRules(admission=Admission(max_age_s=most_s)),
    )
    found = router.retrieve(case["query"], SCOPE, tool_rounds=case["manual_rounds"])
    assert {
        "evidence": [each.chunk_id for each in found.evidence],
        "partial": found.partial,
        "traces": [
            [each.round_index, each.tool_name, each.accepted, each.candidate_count, each.reason]
            for each in found.traces
        ],
        "rejections": list(found.rejections),
        "degradations": list(found.degradations),
        "calls": {each.name: each.calls for each in tools},
    } == case["expect"]


# --- hashes, policy, figures ------------------------------------------------------------------------------------------


def check_event_key(case: Any, _folder: Path) -> None:
    *given, expected = case
    assert event_key(*given) == expected


def check_payload_hash(case: Any, _folder: Path) -> None:
    assert payload_hash(case[0]) == case[1]


def check_policy_confidence(case: Any, _folder: Path) -> None:
    memory = ResearchMemory(
        memory_id="m",
        scope=SCOPE,
        kind=MemoryKind.KNOWLEDGE,
        title="t",
        content="c",
        created_at=NOW,
        updated_at=NOW - timedelta(days=case["age_days"]),
        source_refs=tuple(case["source_refs"]),
        applicability=case["applicability"],
        status=MemoryStatus(case["status"]),
    )
    assert is_usable(memory, SCOPE) is case["usable"]
    assert confidence(memory, SCOPE, NOW) == pytest.approx(case["expect"], abs=1e-9)


def check_metrics(case: Any, _folder: Path) -> None:
    found = evaluate_ranking(case["returned"], case["scope_ok"], case["relevant"], case["k"])
    assert (found.recall_at_k, found.mrr, found.scope_leak_count) == (
        case["recall_at_k"],
        case["mrr"],
        case["scope_leak_count"],
    )


AREAS: dict[str, Callable[[Any, Path], None]] = {
    name.removeprefix("check_"): check
    for name, check in list(globals().items())
    if name.startswith("check_")
}


def _cases(area: str, value: Any) -> Iterator[tuple[str, Any]]:
    if area == "bm25":
        for each in value["queries"]:
            yield each["query"], {**each, "documents": value["documents"]}
    elif area == "hashes":
        for kind, rows in value.items():
            yield from ((f"{kind}/{at}", (kind, row)) for at, row in enumerate(rows, 1))
    elif area == "grep_limits":
        yield from value.items()
    elif area == "grep_search":
        yield "1", value
    else:
        for at, each in enumerate(value, 1):
            yield str(each.get("title", at) if isinstance(each, dict) else at), each


def _params() -> list[Any]:
    path = FOLDER / "arr.json"
    if not path.is_file():
        reason = "no arr.json: set CONFORMANCE_DIR"
        return [pytest.param("", None, id="arr.json", marks=pytest.mark.skip(reason=reason))]
    kept = deviations("arr")
    found = []
    for area, value in json.loads(path.read_text()).items():
        for name, case in _cases(area, value) if area != "meta" else ():
            where, given = (
                case
                if area == "hashes"
                else (area, (name, case) if area == "grep_limits" else case)
            )
            label = f"{area}/{name}"
            marks = [pytest.mark.skip(reason=kept[label])] if label in kept else []
            found.append(pytest.param(where, given, id=label, marks=marks))
    return found


@pytest.mark.parametrize(("area", "case"), _params())
def test_case(area: str, case: Any, tmp_path: Path) -> None:
    assert area in AREAS, "no function for this area"
    AREAS[area](case, tmp_path)
