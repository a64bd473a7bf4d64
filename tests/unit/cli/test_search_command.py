"""The command line of searches: what it makes of its arguments, and what it refuses before anybody is asked."""

import json
from pathlib import Path
from typing import Any

import pytest
from signal_search.cli import build_app
from signal_search.cli.search import _amounts, _words, listed
from signal_search.cli.search_render import search_lines
from signal_search.cli.terminal import Terminal
from signal_search.cli.texts import Texts
from signal_search.contracts.hit_synthesis import HitSynthesis
from signal_search.contracts.result import Stop, StopReason
from signal_search.contracts.search_result import (
    SearchHit,
    SearchRanking,
    SearchResult,
    SearchUsage,
)
from typer.testing import CliRunner

NOWHERE = "http://127.0.0.1:9"  # the discard port: nobody listens


def run(*words: str) -> Any:
    return CliRunner().invoke(build_app(), ["search", *words, "--gateway", NOWHERE, "--lang", "en"])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "Provide a query positional argument or --queries"),
        (("one", "two"), "give one query in quotes, or several after --queries"),
        (("q", "--ranking", "auto", "--top", "0"), "must be positive"),
        (("q", "--ranking", "scorer", "--max-results", "-1"), "must be positive"),
    ],
)
def test_mistakes_of_usage(words: tuple[str, ...], told: str) -> None:
    done = run(*words)
    assert done.exit_code == 2
    assert told in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b" " * 4097, "larger than 4096 bytes"),
        (b'{"language": "qatlas-expr-v1"', "UTF-8 JSON"),
        (b"\xff\xfe", "UTF-8 JSON"),
    ],
)
def test_scorer_files_that_are_none(tmp_path: Path, content: bytes, told: str) -> None:
    file = tmp_path / "scorer.json"
    file.write_bytes(content)
    done = run("q", "--ranking", "scorer", "--scorer-file", str(file))
    assert done.exit_code == 2
    assert told in done.stderr


def test_a_scorer_file_of_just_the_limit_is_read(tmp_path: Path) -> None:
    file = tmp_path / "scorer.json"
    program = b'{"language": "qatlas-expr-v1", "score": "lexical"}'
    file.write_bytes(program.ljust(4096))
    done = run("q", "--ranking", "scorer", "--scorer-file", str(file))
    assert "could not be reached" in done.stderr
    assert done.exit_code == 1


def test_what_programs_can_do_needs_no_query_and_no_network() -> None:
    done = CliRunner().invoke(build_app(), ["search", "--list-scoring-capabilities"])
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert told["language"] == "qatlas-expr-v1"
    assert "generation_available" not in told


@pytest.mark.parametrize(
    ("words", "queries", "given"),
    [
        (["q"], [], {"query": "q"}),
        ([], [], {}),
        (["b", "c"], ["a"], {"queries": ["a", "b", "c"]}),
        ([], ["a", "b"], {"queries": ["a", "b"]}),
    ],
)
def test_one_query_or_several(words: list[str], queries: list[str], given: dict[str, Any]) -> None:
    assert _words(Terminal(), words, queries) == given


def test_names_that_commas_join() -> None:
    assert listed(" dev.to, ,github.com ") == ["dev.to", "github.com"]
    assert listed("") is None
    assert listed(None) is None


@pytest.mark.parametrize(
    ("asked", "direct", "given"),
    [
        ((None, 7, 3), False, {"num": None, "max_results": 7}),
        ((None, 7, 3), True, {"num": 7, "max_results": 3}),
        ((4, 7, None), True, {"num": 4, "max_results": 15}),
    ],
)
def test_a_direct_search_counts_as_the_scorer_guide_says(
    asked: tuple[int | None, int | None, int | None], direct: bool, given: dict[str, Any]
) -> None:
    assert _amounts(Terminal(), *asked, direct=direct, by_program=False) == given


# --- what is shown ----------------------------------------------------------------------------------------------------


def a_result(**changes: Any) -> SearchResult:
    hit = SearchHit(
        title="A\x1b[31m title",
        url="https://a.test/",
        source="brave, exa",
        sources=("brave", "exa"),
        snippet="words " * 100,
        score=0.856,
        published_date="2026-01-02",
    )
    stop = Stop(
        reason=StopReason.PLAN_COMPLETE,
        text="Every planned call was made.",
        exhausted=False,
        coverage=1.0,
        saturation=0.0,
        rounds=1,
    )
    values: dict[str, Any] = {
        "job_id": "job_1",
        "mode": "deep",
        "intent": None,
        "queries": ("q",),
        "count": 2,
        "hits": (hit, hit),
        "results": (hit, hit),
        "ranking": SearchRanking(source="intent"),
        "conclusion": None,
        "errors": {"tavily": "source_rate_limited (until 2026-01-01T00:00:00Z)"},
        "usage": SearchUsage(),
        "synthesis": HitSynthesis(layout="list", language="en", text="SYNTHESIS"),
        "undated": (),
        "stale": 0,
        "source_outcomes": (),
        "warnings": (),
        "stop": stop,
        "trace": (),
    }
    return SearchResult(**{**values, **changes})


def shown(result: SearchResult, top: int) -> list[str]:
    return [each.text for each in search_lines(result, Texts("en"), top=top)]


def test_all_hits_are_told_by_their_synthesis() -> None:
    lines = shown(a_result(), 15)
    assert lines[0] == "SYNTHESIS"
    assert "  tavily: source_rate_limited (until 2026-01-01T00:00:00Z)" in lines


def test_some_hits_are_listed() -> None:
    first, address, snippet, *rest = shown(a_result(), 1)
    assert first == "1. A [31m title `[brave, exa]` 2026-01-02 ⭐0.86"
    assert address.strip() == "https://a.test/"
    assert snippet.endswith("…")
    assert len(snippet) < 260
    assert not any(line.startswith("2.") for line in rest)


def test_multi_lists_each_source() -> None:
    result = a_result()
    lines = shown(a_result(results={"brave": result.hits, "exa": ()}, hits=()), 1)
    assert lines[0] == "brave"
    assert "exa" in lines
