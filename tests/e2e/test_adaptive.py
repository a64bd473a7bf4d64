"""Adaptive searches for real: one that is satisfied and one that is exhausted."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from signal_search.client import Client
from signal_search.contracts.adaptive_result import AdaptiveResult
from signal_search.contracts.job import Job
from signal_search.contracts.judging import NoulQuestion, Question, Screen

from infra.bundle import unpack
from infra.stack import Parts
from tests.e2e.conftest import Running, start
from tests.fakes.ports import free_port
from workers.pipeline.replay import replay

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

COMMAND = str(Path(sys.executable).with_name("signal-search"))
ENVIRONMENT = {
    "SIGNAL_SEARCH_ADAPTIVE__JUDGE": "rule",
    "SIGNAL_SEARCH_ADAPTIVE__SOURCES": '["wikipedia", "crossref"]',
}
FOUND: dict[str, Any] = {
    "questions": ["How high is Mount Corvel?"],
    "keywords": ["Mount Corvel height", "summit survey"],
}
MISSED: dict[str, Any] = {
    "questions": ["Which songs does the ferry crew of Vall sing?"],
    "keywords": ["sea shanties Vall"],
}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    parts = Parts(
        workers={"crawl": 1, "reduce": 1}, gateway=True, port=free_port(), web_port=free_port()
    )
    made = start(tmp_path_factory.mktemp("adaptive"), parts, **ENVIRONMENT)
    yield made
    made.stack.stop()


@pytest.fixture
def client(running: Running) -> Iterator[Client]:
    with Client(running.gateway_url) as made:
        yield made


def test_a_search_that_is_satisfied(client: Client) -> None:
    page = client.adaptive_search(**FOUND, page_size=2)
    assert (page.stop_reason, page.retrieval_sufficient) == ("keyword_queue_empty", True)
    assert {each.status for each in page.keyword_progress} == {"satisfied"}
    assert page.next_cursor is not None
    following = client.adaptive_page(page.next_cursor)
    urls = {each.url.split("?")[0] for each in (*page.results, *following.results)}
    assert "https://en.wikipedia.org/wiki/Mount_Corvel" in urls
    assert "https://doi.org/10.5555/merrin.2020.014" in urls


def test_a_search_that_is_exhausted(client: Client) -> None:
    page = client.adaptive_search(**MISSED)
    assert (page.stop_reason, page.retrieval_sufficient) == ("keyword_queue_empty", False)
    assert [each.status for each in page.keyword_progress] == ["exhausted"]
    assert page.total_results == 0
    assert page.coverage_complete is False


def test_the_command_line_shows_the_same(running: Running) -> None:
    command = [COMMAND, "adaptive", *FOUND["questions"], "--gateway", running.gateway_url]
    for word in FOUND["keywords"]:
        command += ["--keyword", word]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr
    assert "keyword search satisfied; completeness not assessed" in done.stdout


def test_a_bundle_gives_the_same_bytes_again(client: Client) -> None:
    page = client.adaptive_search(**FOUND)
    assert isinstance(page.job_id, str)
    assert replay(unpack(client.bundle(page.job_id))).same


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    parts = Parts(
        workers={"crawl": 1, "reduce": 1}, gateway=True, port=free_port(), web_port=free_port()
    )
    environment = {**ENVIRONMENT, "SIGNAL_SEARCH_ADAPTIVE__JUDGE": "delegate"}
    made = start(tmp_path_factory.mktemp("asking"), parts, **environment)
    yield made
    made.stack.stop()


def test_the_caller_is_the_judge_over_http(asking: Running) -> None:
    heard: list[str] = []

    def answers(asked: Screen) -> dict[str, Any]:
        heard.append(asked.phase)
        return {name: _liked(name, each) for name, each in asked.questions.items()}

    with Client(asking.gateway_url) as client:
        page = client.attend(_submitted(asking), screen_fn=answers)
    assert isinstance(page, AdaptiveResult)
    assert (page.stop_reason, page.retrieval_sufficient) == ("keyword_queue_empty", True)
    assert set(heard) == {"plan", "source_judge", "keyword_judge"}
    assert not isinstance(page.usage, msgspec.UnsetType)
    assert page.usage.judge_requests == len(heard)


def _submitted(running: Running) -> str:
    reply = httpx.post(
        f"{running.gateway_url}/v1/adaptive-search",
        json=FOUND,
        headers={"prefer": "respond-async"},
        timeout=30,
    )
    assert reply.status_code == 202, reply.text
    return msgspec.json.decode(reply.content, type=Job).id


def _liked(name: str, question: Question) -> dict[str, Any]:
    """Return the answer of a judge that finds every text worth reading and every keyword satisfied."""
    if isinstance(question, NoulQuestion):
        return {"type": "noul", "noul": 0.02 if "injection" in name else 0.9}
    options = list(question.criteria)
    chosen = "satisfied" if "satisfied" in options else options[0]
    return {"type": "choice", "choice": chosen, "confidence": 0.9}
