"""The main job for real: a question goes in over HTTP, Redis or the command line, an answer with citations comes out."""

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
from signal_search.client import Client
from signal_search.contracts.job import JobState
from signal_search.contracts.query import Constraints, RetrieveRequest, SourcePrefs
from signal_search.contracts.result import Result, StopReason

from infra.bundle import unpack
from tests.e2e.conftest import INTERVAL_S, Running
from workers.pipeline.replay import replay

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

COMMAND = str(Path(sys.executable).with_name("signal-search"))


def quotes_stand(result: Result, client: Client, job_id: str) -> None:
    """Every span is a substring of the stored document, at its byte offsets."""
    documents = {each.doc_id: each for each in unpack(client.bundle(job_id)).documents}
    spans = [
        span
        for finding in result.findings
        for claim in finding.claims
        for span in (*claim.supporting, *claim.contradicting)
    ]
    assert spans
    for span in spans:
        assert documents[span.doc_id].text.encode()[span.start : span.end].decode() == span.quote


@pytest.fixture(params=["http", "redis"])
def client(request: pytest.FixtureRequest, running: Running) -> Iterator[Client]:
    urls = {"http": running.gateway_url, "redis": None}
    redis_url = running.redis_url if request.param == "redis" else None
    with Client(urls[request.param], redis_url=redis_url) as made:
        yield made


def test_a_fact_is_answered_with_a_citation_that_can_be_followed(client: Client, running: Running):
    seen = []
    result = client.retrieve("How high is Mount Corvel?", on_progress=seen.append)
    assert result.findings
    assert result.sources[0].url.startswith("https://en.wikipedia.org/wiki/")
    assert [each.number for each in result.sources] == list(range(1, len(result.sources) + 1))
    assert {n for f in result.findings for n in f.citations} == {s.number for s in result.sources}
    assert result.stop.reason in set(StopReason)
    assert result.token_used == result.usage.tokens <= 2000
    assert 0 < result.confidence <= 1
    assert seen
    quotes_stand(result, client, result.job_id)


def test_a_chinese_question_is_answered_in_chinese(client: Client):
    result = client.retrieve("科维尔山海拔多少？")
    assert result.language == "zh"
    assert result.sources[0].url.startswith("https://zh.wikipedia.org/wiki/")
    assert result.answer.startswith("**先答**")


def test_a_site_is_crawled_within_its_rules(client: Client, running: Running):
    running.forget_requests()
    result = client.retrieve(
        "When is the harbour bridge opened for ships?", sources=["site:http://harbour.test/"]
    )
    assert result.findings
    paths = [row["path"] for row in running.requests("harbour.test")]
    assert not [path for path in paths if path.startswith("/private/")]


def test_replaying_a_bundle_gives_the_same_bytes(client: Client):
    result = client.retrieve("What do urban bees need?", depth="standard")
    made = replay(unpack(client.bundle(result.job_id)))
    assert made.same
    assert made.differences == ()


def test_replaying_with_other_weights_shows_what_they_change(client: Client):
    result = client.retrieve("How high is Mount Corvel?")
    bundle = unpack(client.bundle(result.job_id))
    made = replay(bundle, {"sba.weights.credibility": 0.0})
    assert not made.same
    assert any(each.path.endswith("weighted") for each in made.differences)


def test_twenty_jobs_at_once_share_fetches_and_keep_the_pace(running: Running):
    running.forget_requests()
    questions = [
        "How high is Mount Corvel?",
        "What is the Lunnoy railway?",
        "How do tidal turbines work?",
        "What do urban bees need in a city?",
        "How is green tea made?",
    ] * 4

    def ask(question: str) -> Result:
        with Client(redis_url=running.redis_url) as each:
            return each.retrieve(question, depth="standard")

    with ThreadPoolExecutor(20) as pool:
        results = list(pool.map(ask, questions))
    assert len(results) == 20
    for result in results:
        assert result.token_used <= 30_000
        assert result.usage.fetches <= 80
    by_host = defaultdict(list)
    urls = []
    for row in running.requests():
        by_host[row["host"]].append(row["t_start"])
        urls.append((row["host"], row["path"], row.get("query", "")))
    for host, times in by_host.items():
        ordered = sorted(times)
        gaps = [later - earlier for earlier, later in pairwise(ordered)]
        assert all(gap >= INTERVAL_S * 1000 for gap in gaps), (host, min(gaps))
    assert len(urls) == len(set(urls)), "an identical request was made twice"


def test_cancelling_ends_the_job_once(running: Running):
    with Client(running.gateway_url) as client:
        wanted = Constraints(source_prefs=SourcePrefs(only=("site:http://slow.test/",)))
        job = client.submit(RetrieveRequest(query="slow pages", constraints=wanted))
        cancelled = client.cancel(job.id)
        assert cancelled.state is JobState.CANCELLED
        names = [entry.__class__.__name__ for _id, entry in client.events(job.id) if entry]
        assert names.count("Ended") == 1
        assert names[-1] == "Ended"


def test_a_deadline_ends_the_job_with_what_is_known(running: Running):
    with Client(redis_url=running.redis_url) as client:
        result = client.retrieve(
            "slow pages",
            {"deadline_s": 2, "required_tier": "L2"},
            sources=["site:http://slow.test/30"],
        )
    assert result.stop.reason is StopReason.DEADLINE
    assert result.exhausted
    assert result.findings == ()


def test_export_and_job_list_over_http(running: Running):
    with Client(running.gateway_url) as client:
        result = client.retrieve("How high is Mount Corvel?")
        assert "@" in client.export(result.job_id, "bibtex")
        assert result.sources[0].url in client.export(result.job_id, "markdown")
        jobs, _cursor = client.jobs(limit=5)
        assert result.job_id in [each.id for each in jobs]
    metrics = httpx.get(f"{running.gateway_url}/metrics", timeout=30)
    assert metrics.status_code == 200
    assert httpx.get(f"{running.gateway_url}/readyz", timeout=30).status_code == 200


def test_the_command_line_prints_one_json_document(running: Running):
    command = [COMMAND, "retrieve", "How high is Mount Corvel?", "--json", "--redis"]
    done = subprocess.run([*command, running.redis_url], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["findings"]
    assert b"stopping" in done.stderr


def test_no_source_reached_is_said_per_source_with_exit_code_4(running: Running):
    command = [COMMAND, "retrieve", "anything at all", "--source", "site:http://nowhere.test/"]
    done = subprocess.run(
        [*command, "--json", "--redis", running.redis_url], capture_output=True, check=False
    )
    assert done.returncode == 4, done.stderr
    result = json.loads(done.stdout)
    assert result["findings"] == []
    assert result["confidence"] == 0.0
    assert result["stop"]["reason"] == "no_source_reached"
    [outcome] = result["source_outcomes"]
    assert outcome["state"] == "refused"
    assert outcome["reason"] == "address"


def test_a_source_that_does_not_exist_is_refused_before_any_work(running: Running):
    command = [COMMAND, "retrieve", "anything at all", "--source", "nosuch", "--redis"]
    done = subprocess.run([*command, running.redis_url], capture_output=True, check=False)
    assert done.returncode == 2, done.stderr
    assert b"constraints.source_prefs.only" in done.stderr
    assert b"nosuch" not in done.stderr
