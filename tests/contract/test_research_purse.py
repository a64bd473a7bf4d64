"""What a question to research memory may cost, counted in the store: over processes, attempts, tenants and models."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from signal_search.contracts.research import ResearchRequest, RouterResult
from signal_search.contracts.research_result import ResearchResult

from budget.policy import deployment_level, job_level, tenant_level
from infra.settings import load
from tests.fakes.research import Shelf, a_memory, a_scope
from tests.fakes.scripted_model import Answer, ScriptedModel, said, scripted
from tests.fakes.walk import Walk
from workers.pipeline.attempt import attempt
from workers.pipeline.plan import plan
from workers.pipeline.research_purse import ResearchPurse

pytestmark = pytest.mark.usefixtures("redis")

SCOPE = a_scope()
JOB = job_level("job_1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A memory and an index, compared just now by the store's clock."""
    shelf = Shelf(tmp_path)
    shelf.publish(a_memory("m", "alpha beta", SCOPE))
    return tmp_path


def walk_over(redis_url: str, folder: Path, research: dict[str, Any] | None = None, **more: Any) -> Walk:  # fmt: skip
    figures = {"folder": str(folder), "vectors": "off", **(research or {})}
    return Walk(load(redis_url=redis_url, research=figures, **more))


def with_model(redis_url: str, folder: Path, model: ScriptedModel, **research: Any) -> Walk:
    figures = {
        "llm_enabled": True,
        "llm_endpoints": ["https://model.test/v1"],
        "llm_base_url": "https://model.test/v1",
        "llm_model": "m",
        "llm_api_key": "a-key-of-tests",
        "llm_timeout_s": 60,
        "rerank": "llm",
        **research,
    }
    hosts = {"only": True, "hosts": {"model.test": f"127.0.0.1:{model.port}"}}
    return walk_over(redis_url, folder, figures, loopback=hosts)


def asked(walk: Walk, **request: Any) -> RouterResult:
    walk.submit(ResearchRequest(query="alpha", scope=SCOPE, **request), deadline_s=120)
    found = walk.outcome()
    assert isinstance(found, ResearchResult)
    return found.answer


def used(walk: Walk, level: str = JOB) -> dict[str, int]:
    found = walk.tools.ledger.balance(level)
    walk.tools.redis.close()
    assert not any(found.held.values())
    return {str(name): count for name, count in found.used.items() if count}


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    """Plans memory alone, then finds every candidate as good; 41 tokens a question."""

    def script(number: int) -> Answer:
        if number == 1:
            return said(json.dumps({"tool_rounds": [["research-memory"]], "reason": "r"}))
        shown = json.loads(model.questions[-1]["messages"][1]["content"])["candidates"]
        rows = [{"chunk_id": each["chunk_id"], "score": 1, "reason": "r"} for each in shown]
        return said(json.dumps({"results": rows}))

    with scripted(script) as model:
        yield model


def test_rounds_and_calls_are_charged_to_job_tenant_and_deployment(
    redis_url: str, folder: Path
) -> None:
    limits = {"calls": 100}
    walk = walk_over(redis_url, folder, tenant=limits, deployment=limits)
    found = asked(walk)
    assert [each.chunk_id for each in found.evidence] == ["research:m"]
    now_ms, settings = walk.tools.clock.now_ms(), walk.tools.settings
    assert used(walk) == {"calls": 2, "rounds": 1}
    assert used(walk, tenant_level("local", settings.tenant.per, now_ms))["calls"] == 2
    assert used(walk, deployment_level(settings.deployment.per, now_ms))["calls"] == 2


def test_a_tenant_without_calls_left_gets_what_there_was(redis_url: str, folder: Path) -> None:
    found = asked(walk_over(redis_url, folder, tenant={"calls": 1}))
    assert [each.chunk_id for each in found.evidence] == ["research:m"]
    assert "budget_exhausted" in found.degradations
    assert found.partial
    assert [each.tool_name for each in found.traces] == ["research-memory"]


def test_the_questions_to_a_model_are_charged_as_reported(
    redis_url: str, folder: Path, model: ScriptedModel
) -> None:
    walk = with_model(redis_url, folder, model)
    found = asked(walk)
    assert found.degradations == ()
    assert used(walk) == {"calls": 1, "rounds": 1, "judge_requests": 2, "model_tokens": 82}


def test_a_question_that_may_cost_too_much_is_not_put(
    redis_url: str, folder: Path, model: ScriptedModel
) -> None:
    """2,048 tokens of answer are more than 2,000 by themselves."""
    walk = with_model(redis_url, folder, model, llm_tokens=2000)
    found = asked(walk)
    assert found.degradations[0] == "planner_budget_exhausted"
    assert found.degradations[-1] == "reranker_budget_exhausted"
    assert [each.chunk_id for each in found.evidence] == ["research:m"]
    assert model.questions == []
    assert used(walk) == {"calls": 2, "rounds": 1}


def test_a_step_that_is_tried_again_is_charged_once(redis_url: str, folder: Path) -> None:
    """Killed after the answer, before it was written down: the same numbers again."""
    walk = walk_over(redis_url, folder)
    walk.submit(ResearchRequest(query="alpha", scope=SCOPE), deadline_s=120)
    stored = walk.tools.store.get("job_1")
    assert stored is not None
    lost = ResearchPurse(walk.tools, stored)
    assert lost.round(1)
    assert all(lost.call(number) for number in (1, 2))
    assert attempt(walk.tools, "job_1/plan", plan) == "left"
    assert used(walk) == {"calls": 2, "rounds": 1}


def test_twelve_calls_are_twelve_whatever_process_makes_them(redis_url: str, folder: Path) -> None:
    """Four at once over connections of their own; each number is granted to all, and charged once."""
    first = walk_over(redis_url, folder)
    first.submit(ResearchRequest(query="alpha", scope=SCOPE), deadline_s=120)
    granted: list[int] = []

    def work() -> None:
        walk = walk_over(redis_url, folder)
        stored = walk.tools.store.get("job_1")
        assert stored is not None
        purse = ResearchPurse(walk.tools, stored)
        granted.extend(number for number in range(1, 16) if purse.call(number))
        walk.tools.redis.close()

    working = [threading.Thread(target=work) for _ in range(4)]
    for each in working:
        each.start()
    for each in working:
        each.join()
    assert sorted(set(granted)) == list(range(1, 13))
    assert used(first) == {"calls": 12}
    stored = first.tools.store.get("job_1")
    assert stored is not None
    assert [ResearchPurse(first.tools, stored).round(number) for number in range(1, 8)] == [True] * 6 + [False]  # fmt: skip
    first.tools.redis.close()
