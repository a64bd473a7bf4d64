"""Delegations and research for real: the caller's callables answer a running job over HTTP and over Redis."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from signal_search.client import AsyncClient, Client
from signal_search.contracts.delegation import AgentTask
from signal_search.contracts.query import Constraints, RetrieveRequest, Tier
from signal_search.contracts.trace import CallStarted, Delegated, DelegationAnswered, Ended, Planned

from infra.bundle import unpack
from tests.e2e.conftest import Running
from workers.pipeline.replay import replay

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

COMMAND = str(Path(sys.executable).with_name("signal-search"))
QUESTION = "How high is Mount Corvel?"


@pytest.fixture(params=["http", "redis"])
def client(request: pytest.FixtureRequest, running: Running) -> Iterator[Client]:
    over = (
        {"gateway_url": running.gateway_url}
        if request.param == "http"
        else {"redis_url": running.redis_url}
    )
    with Client(**over) as made:
        yield made


def test_callables_answer_a_running_job(client: Client):
    asked: list[str] = []

    def tier(query: str) -> str:
        asked.append(query)
        return "L1"

    async def entail(claim: str, passage: str) -> str:
        asked.append(claim)
        return "TRUE"

    entries = []
    result = client.retrieve(
        QUESTION,
        on_progress=lambda update: entries.append(update.entry),
        tier_classify_fn=tier,
        entail_fn=entail,
        relevance_fn=lambda _question, _passage: True,
    )
    assert asked[0] == QUESTION
    assert result.tier_used is Tier.L1
    assert result.findings
    assert result.degradations == ()
    names = {e.delegation.id for e in entries if isinstance(e, Delegated)}
    answered = {e.delegation_id for e in entries if isinstance(e, DelegationAnswered)}
    assert {"tier_classify", "relevance_judge.q1"} <= names == answered
    assert result.usage.judge_requests == len(names)
    assert replay(unpack(client.bundle(result.job_id))).same


def test_a_callable_that_fails_costs_only_its_help(client: Client):
    def broken(query: str) -> str:
        raise RuntimeError(query)

    result = client.retrieve(QUESTION, tier_classify_fn=broken)
    assert result.findings
    assert result.degradations == ("delegation tier_classify: declined",)


def test_without_callables_nothing_is_asked(client: Client):
    entries = []
    client.retrieve(QUESTION, on_progress=lambda update: entries.append(update.entry))
    assert not [each for each in entries if isinstance(each, Delegated)]


def test_an_async_client_takes_both_kinds_of_callables(running: Running):
    async def ask() -> tuple[str, ...]:
        async with AsyncClient(running.gateway_url) as client:
            result = await client.retrieve(
                QUESTION, tier_classify_fn=lambda _query: "L1", relevance_fn=_relevant
            )
            return result.degradations

    assert asyncio.run(ask()) == ()


async def _relevant(_question: str, _passage: str) -> bool:
    return True


def test_somebody_else_answers_by_the_command_line(running: Running, tmp_path: Path):
    def command(*args: str) -> subprocess.CompletedProcess[str]:
        line = [COMMAND, *args, "--gateway", running.gateway_url]
        return subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)

    with Client(running.gateway_url) as client:
        wanted = Constraints(required_tier=Tier.L2)
        job = client.submit(
            RetrieveRequest(query=QUESTION, constraints=wanted, delegate=("outline_confirm",))  # type: ignore[arg-type]
        )
        for _id, entry in client.events(job.id):
            if isinstance(entry, Delegated):
                break
        listed = command("jobs", "delegations", job.id)
        assert listed.stdout.startswith("outline_confirm  outline_confirm  open")
        shown = json.loads(command("jobs", "delegations", job.id, "--json").stdout)
        [asked] = shown["delegations"]
        file = tmp_path / "answer.json"
        file.write_text(json.dumps({"outline": "1. Who climbed Mount Corvel first?"}))
        wrong = command("jobs", "answer", job.id, "outline_confirm", "--file", __file__)
        assert (wrong.returncode, "field: answer" in wrong.stderr) == (2, True)
        said = command("jobs", "answer", job.id, "outline_confirm", "--file", str(file))
        assert (said.returncode, said.stdout) == (0, "outline_confirm  outline_confirm  answered\n")
        result = client.attend(job.id)
        assert asked["delegation"]["question"]["outline"].startswith(f"# {QUESTION}")
        planned = next(each for each in result.trace if each.name == "planned")
        assert planned.data["questions"][0] == "Who climbed Mount Corvel first?"


def test_research_in_a_vault_is_resumed_edited_and_refreshed(client: Client, tmp_path: Path):
    vault = tmp_path / "vault"
    tasks: list[str] = []

    def agent(task: AgentTask) -> str:
        tasks.append(task.task)
        return task.passages[0].text

    def leave(update: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        client.research(QUESTION, vault=vault, on_progress=leave, agent_fn=agent)
    state = json.loads((vault / "research.json").read_text())
    [first] = state["attempts"]
    result = client.research(QUESTION, vault=vault, agent_fn=agent)
    assert result.job_id == first["job_id"]
    assert tasks
    assert {each.name for each in vault.iterdir()} >= {
        "outline.md", "items.jsonl", "citations.bib", "report.md", "result.json", "changes.json",
    }  # fmt: skip
    assert client.research(QUESTION, vault=vault) == result
    outline = vault / "outline.md"
    outline.write_text(
        f"# {QUESTION}\n\n1. How high is Mount Corvel?\n2. Who climbed Mount Corvel first?\n"
    )
    again = client.research(QUESTION, vault=vault, refresh=True)
    assert again.job_id != result.job_id
    planned = next(each for each in again.trace if each.name == "planned")
    assert planned.data["questions"][:2] == [
        "How high is Mount Corvel?",
        "Who climbed Mount Corvel first?",
    ]
    changes = json.loads((vault / "changes.json").read_text())
    assert set(changes["same"]) <= {each.url for each in result.sources}
    assert (vault / "history" / f"{result.job_id}.json").exists()


def test_an_outline_is_confirmed_before_anything_is_searched(client: Client, tmp_path: Path):
    question = "Research the climbing of Mount Corvel"
    draft = client.research_outline(question, vault=tmp_path)
    assert (tmp_path / draft.outline_file).read_text() == draft.outline
    job = client.jobs()[0][0]  # the newest
    entries = [entry for _id, entry in client.events(job.id)]
    assert isinstance(entries[-1], Ended)
    assert not [each for each in entries if isinstance(each, Planned | CallStarted)]
    result = client.research(question, vault=tmp_path, export_citations="ris")
    planned = next(each for each in result.trace if each.name == "planned")
    assert [line for line in draft.outline.splitlines() if line[:1].isdigit()] == [
        f"{n}. {text}" + " (contrary)" * (n == 6)
        for n, text in enumerate(planned.data["questions"], 1)
    ]
    assert result.sources
    assert (tmp_path / "references.ris").read_text().startswith("TY  - ")
