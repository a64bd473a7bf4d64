"""A vault: whole files only, its own names only, and what changed since the time before."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from signal_search.client import Client
from signal_search.client.request import build_request
from signal_search.client.vault import Attempt, Vault, VaultState, changes_between
from signal_search.contracts.delegation import DelegationReply
from signal_search.contracts.job import Job, JobState
from signal_search.contracts.query import DelegationKind, RetrieveRequest
from signal_search.contracts.result import Result
from signal_search.contracts.trace import Ended
from signal_search.errors import Failed, Gone, Invalid

from tests.fakes.drafting import OUTLINE, Drafting
from tests.fakes.gateway import a_result

QUESTION = "How high is Mount Ansel?"


def with_source(job_id: str, **source: Any) -> Result:
    result = a_result(job_id)
    changed = msgspec.structs.replace(result.sources[0], **source)
    return msgspec.structs.replace(result, sources=(changed,))


def test_a_result_becomes_files_that_other_programs_read(tmp_path: Path):
    vault = Vault(tmp_path / "deep" / "vault")
    changes = vault.keep_result(a_result("job_1"))
    assert changes.new == ("https://example.org/a",)
    [item] = [json.loads(line) for line in (vault.folder / "items.jsonl").read_text().splitlines()]
    assert (item["number"], item["url"], item["title"]) == (
        1,
        "https://example.org/a",
        "Mount Ansel",
    )
    assert "@" in (vault.folder / "citations.bib").read_text()
    assert json.loads((vault.folder / "citations.json").read_text())
    assert (vault.folder / "report.md").read_text().startswith(f"# {QUESTION}")
    assert vault.result() == a_result("job_1")
    assert not list(vault.folder.glob(".*.part"))


def test_the_next_result_says_what_changed_and_keeps_the_one_before(tmp_path: Path):
    vault = Vault(tmp_path)
    vault.keep_result(a_result("job_1"))
    vault.keep_result(with_source("job_2", doc_id="d2"))
    assert vault.changes().changed == ("https://example.org/a",)
    vault.keep_result(with_source("job_3", url="https://example.org/b"))
    assert (vault.changes().new, vault.changes().gone) == (
        ("https://example.org/b",),
        ("https://example.org/a",),
    )
    assert {each.name for each in (tmp_path / "history").iterdir()} == {"job_1.json", "job_2.json"}


def test_the_same_result_again_is_no_change(tmp_path: Path):
    assert changes_between(a_result("j"), a_result("j")).same == ("https://example.org/a",)
    vault = Vault(tmp_path)
    vault.keep_result(a_result("job_1"))
    vault.keep_result(a_result("job_1"))
    assert not (tmp_path / "history").exists()


def test_no_name_in_a_result_becomes_a_path(tmp_path: Path):
    vault = Vault(tmp_path / "vault")
    vault.keep_result(a_result("../../evil"))
    vault.keep_result(a_result("job_2"))
    assert {each.name for each in tmp_path.iterdir()} == {"vault"}
    assert [each.name for each in (vault.folder / "history").iterdir()] == ["evil.json"]


def test_a_folder_of_something_else_is_refused(tmp_path: Path):
    (tmp_path / "research.json").write_text("[]")
    with pytest.raises(Invalid) as refused:
        Vault(tmp_path).state()
    assert refused.value.field == "vault"


class Script:
    """A transport whose jobs end at once; `lost` are ids that the gateway has no more."""

    def __init__(self) -> None:
        self.submitted: list[tuple[RetrieveRequest, str]] = []
        self.lost: set[str] = set()
        self.state = JobState.SUCCEEDED
        self.asks_outline = False
        self.answers: list[object] = []

    def submit(self, request: RetrieveRequest, *, idempotency_key: str) -> Job:
        self.submitted.append((request, idempotency_key))
        return self.job(f"job_{len({key for _request, key in self.submitted})}")

    def job(self, job_id: str) -> Job:
        if job_id in self.lost:
            raise Gone
        return Job(
            id=job_id, kind="retrieve", state=self.state, query="", created_at_ms=0, deadline_ms=0
        )

    def events(self, job_id: str, *, after: str, wait_s: float) -> Any:
        if self.asks_outline:
            yield from Drafting().events(job_id, after=after, wait_s=wait_s)
        yield "2-0", Ended(at_ms=1, key="ended", state=self.state)

    def answer(self, job_id: str, delegation_id: str, reply: DelegationReply) -> None:
        self.answers.append(reply.answer)

    def result(self, job_id: str) -> Result:
        return a_result(job_id)

    def cancel(self, job_id: str) -> Job:
        raise AssertionError("a vault's job is never cancelled")

    def close(self) -> None:
        return None


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def client(script: Script) -> Client:
    return Client(transport=script)  # type: ignore[arg-type]


def attempts(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "research.json").read_text())["attempts"]
    return found


def test_a_finished_research_is_read_and_not_asked_again(
    client: Client, script: Script, tmp_path: Path
):
    first = client.research(QUESTION, vault=tmp_path)
    assert client.research(QUESTION, vault=tmp_path) == first
    assert len(script.submitted) == 1
    assert script.submitted[0][0].delegate == (DelegationKind.OUTLINE_CONFIRM,)
    assert script.submitted[0][0].depth == "deep"
    assert attempts(tmp_path)[0]["finished"] is True


def test_without_a_vault_it_is_a_research_too_and_the_outline_is_taken_as_it_is(
    client: Client, script: Script
):
    script.asks_outline = True
    assert client.research(QUESTION).job_id == "job_1"
    assert script.submitted[0][0].delegate == (DelegationKind.OUTLINE_CONFIRM,)
    assert script.answers == [{"outline": OUTLINE}]


def test_a_refresh_asks_again(client: Client, script: Script, tmp_path: Path):
    client.research(QUESTION, vault=tmp_path)
    assert client.research(QUESTION, vault=tmp_path, refresh=True).job_id == "job_2"
    assert len({key for _request, key in script.submitted}) == 2


def test_a_submission_that_was_cut_off_is_made_again_under_its_key(
    client: Client, script: Script, tmp_path: Path
):
    request = build_request(QUESTION, depth="deep", delegate=("outline_confirm",))
    Vault(tmp_path).keep_state(VaultState(request=request, attempts=(Attempt(key="k" * 32),)))
    client.research(QUESTION, vault=tmp_path)
    assert [key for _request, key in script.submitted] == ["k" * 32]


@pytest.mark.parametrize("gone", [True, False])
def test_a_job_that_is_lost_is_asked_anew(
    client: Client, script: Script, tmp_path: Path, gone: bool
):
    request = build_request(QUESTION, depth="deep")
    old = Attempt(key="k" * 32, job_id="job_old")
    Vault(tmp_path).keep_state(VaultState(request=request, attempts=(old,)))
    script.lost = {"job_old"} if gone else set()
    client.research(QUESTION, vault=tmp_path)
    assert len(script.submitted) == gone
    assert [each["job_id"] for each in attempts(tmp_path)] == ["job_old"] + ["job_1"] * gone


def test_a_vault_of_another_question_is_left_alone(client: Client, script: Script, tmp_path: Path):
    client.research(QUESTION, vault=tmp_path)
    before = (tmp_path / "research.json").read_bytes()
    with pytest.raises(Invalid) as refused:
        client.research("How deep is Lake Ansel?", vault=tmp_path)
    assert refused.value.field == "vault"
    assert (tmp_path / "research.json").read_bytes() == before


def test_a_failed_job_says_so_and_can_be_asked_again(
    client: Client, script: Script, tmp_path: Path
):
    script.state = JobState.CANCELLED
    script.result = _cancelled  # type: ignore[method-assign]
    with pytest.raises(Failed):
        client.research(QUESTION, vault=tmp_path)
    with pytest.raises(Failed):
        client.research(QUESTION, vault=tmp_path)
    assert (
        len({key for _request, key in script.submitted}) == 2
    )  # the cancelled one was not waited for


def _cancelled(job_id: str) -> Result:
    raise Gone
