"""What is built at first use is there when a worker begins: the first job of a process builds nothing more."""

import os
import subprocess
import sys
from collections.abc import Iterator
from inspect import signature
from typing import Any

import pytest
from signal_search.contracts.finding import Verdict

from infra.settings import load
from workers.pipeline.rules import snapshot
from workers.registry import Registry
from workers.rehearsal import _play, rehearse

ROOMS = (
    "workers.planning.",
    "workers.pipeline.",
    "workers.synthesis.",
    "scoring.",
    "infra.catalog.",
)


def tables() -> Iterator[tuple[str, Any]]:
    """Yield what is built once: the cached functions that take nothing."""
    for name, module in sorted(sys.modules.items()):
        for each, value in vars(module).items() if name.startswith(ROOMS) else ():
            is_own = getattr(value, "__module__", "") == name
            if is_own and hasattr(value, "cache_info") and not signature(value).parameters:
                yield f"{name}.{each}", value


def built() -> set[str]:
    return {name for name, table in tables() if table.cache_info().currsize}


def test_the_rehearsed_questions_are_answered() -> None:
    results = rehearse(load())
    assert [each.language for each in results] == ["en", "zh"]
    for each in results:
        assert "2,114" in each.answer or "2114" in each.answer
        assert each.sources
        verdicts = {claim.verdict for finding in each.findings for claim in finding.claims}
        assert verdicts == {Verdict.TRUE}


def test_after_it_a_job_builds_no_table() -> None:
    for _name, table in tables():
        table.cache_clear()
    settings = load()
    rehearse(settings)
    before = built()
    assert {
        "infra.catalog.catalog.shipped_rows",
        "workers.planning.synonyms._english_terms",
        "workers.planning.topics._matchers",
    } <= before
    _play(
        settings,
        Registry(settings),
        snapshot(settings),
        "Compare PostgreSQL and SQLite for a small web service since 2020",
        (
            "SQLite needs no server. PostgreSQL handles many writers at once.",
            "PostgreSQL is a server; SQLite is a library that reads a file of its own.",
        ),
    )
    assert built() == before


@pytest.mark.parametrize(("role", "expected"), [("reduce", "1"), ("all", "1"), ("crawl", "0")])
def test_a_worker_that_plans_rehearses_before_its_pool_forks(role: str, expected: str) -> None:
    shown = (
        "import workers.worker, workers.planning.topics as topics; "
        "print(topics._matchers.cache_info().currsize)"
    )
    environment = {
        **os.environ,
        "SIGNAL_SEARCH_WORKER_ROLE": role,
        "SIGNAL_SEARCH_REDIS_URL": "redis://127.0.0.1:1",
    }
    done = subprocess.run(
        [sys.executable, "-c", shown], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == expected
