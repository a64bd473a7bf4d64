"""A question answered from a team's own memory and the web in one answer, by real workers, for those with the grant."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from signal_search.client import Client
from signal_search.contracts.query import Constraints, RetrieveRequest, SourcePrefs
from signal_search.contracts.research import ScopeKey
from signal_search.contracts.result import Result
from signal_search.errors import NotFound

from infra.bundle import unpack
from infra.clock import SystemClock
from infra.settings import load
from infra.stack import Parts
from infra.tokens import TokenStore, tokens_path
from tests.chaos.stage import wait_until
from tests.e2e.conftest import Running, free_port, start
from tests.fakes.research import Shelf, a_memory, a_scope
from workers.pipeline.replay import replay
from workers.research import Desk

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

OURS = a_scope()
QUESTION = "How high is Mount Corvel?"
NOTE = "Our party measured the summit: Mount Corvel is 2,847 metres high."
FILE = "# Field book\n\nMount Corvel is 2,847 metres high by our levelling of 2021.\n"
COMMAND = str(Path(sys.executable).with_name("signal-search"))


class House(NamedTuple):
    """A stack with a memory, a token that was granted it, and one of the same tenant that was not."""

    running: Running
    granted: str
    plain: str
    folder: Path

    def client(self, token: str) -> Client:
        return Client(self.running.gateway_url, token=token)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder, notes = tmp_path_factory.mktemp("house"), tmp_path_factory.mktemp("notes")
    (notes / "field.md").write_text(FILE)
    settings = load(data_dir=str(folder), research={"vectors": "off"})
    desk = Desk(settings, SystemClock())
    Shelf(desk.folder).publish(a_memory("m1", NOTE, OURS, title="Height of Mount Corvel"))
    desk.index(OURS, notes)
    store = TokenStore.load(tokens_path(settings))
    granted, _record = store.create("ann", ["read", "write"], {}, now_ms=0, research=(OURS,))
    plain, _record = store.create("ann", ["read", "write"], {}, now_ms=0)
    parts = Parts(
        workers={"crawl": 1, "reduce": 1}, gateway=True, port=free_port(), web_port=free_port()
    )
    running = start(folder, parts, SIGNAL_SEARCH_RESEARCH__VECTORS="off")
    yield House(running, granted, plain, folder)
    running.stack.stop()


def wanted(*only: str, scope: ScopeKey = OURS) -> Constraints:
    return Constraints(scope=scope, source_prefs=SourcePrefs(only=only))


def what_counts(result: Result) -> tuple[object, ...]:
    cited = sorted(each.url for each in result.sources)
    return result.answer, cited, [each.text for each in result.findings], result.confidence


def test_memory_and_a_page_of_the_web_are_cited_in_one_answer(house: House) -> None:
    with house.client(house.granted) as client:
        # Where one fact is asked for memory may be enough; deeper than that, it is one voice among others.
        result = client.retrieve(QUESTION, wanted("wikipedia"), depth="standard")
        bundle = unpack(client.bundle(result.job_id))
    cited = {number for each in result.findings for number in each.citations}
    urls = {each.url for each in result.sources if each.number in cited}
    assert "memory://local/records/m1" in urls
    assert any(each.startswith("https://en.wikipedia.org/wiki/") for each in urls)
    documents = {each.doc_id: each for each in bundle.documents}
    spans = [span for each in result.findings for claim in each.claims for span in claim.supporting]
    assert {span.url for span in spans} >= {"memory://local/records/m1"}
    for span in spans:
        text = documents[span.doc_id].text.encode()
        assert text[span.start : span.end].decode() == span.quote
    assert "2,847" in result.answer
    assert replay(bundle).same


def test_the_tenants_other_tokens_find_nothing_of_it(house: House) -> None:
    with house.client(house.granted) as client:
        job_id = client.retrieve(QUESTION, wanted("memory")).job_id
    with house.client(house.plain) as other:
        with pytest.raises(NotFound):
            other.result(job_id)
        assert job_id not in {each.id for each in other.jobs()[0]}
        with pytest.raises(NotFound) as refused:
            other.retrieve(QUESTION, wanted("memory"))
    assert (refused.value.code, refused.value.field) == ("scope_not_found", "constraints.scope")


def test_memory_alone_asks_nobody(house: House) -> None:
    house.running.forget_requests()
    with house.client(house.granted) as client:
        result = client.retrieve(QUESTION, wanted("memory"))
    assert {each.source_id for each in result.sources} == {"memory"}
    assert {each.url.partition("#")[0] for each in result.sources} <= {
        "memory://local/records/m1",
        "memory://local/files/field.md",
    }
    assert house.running.requests() == []


def test_the_command_line_has_the_scope_as_five_names(house: House) -> None:
    ran = subprocess.run(
        [
            *(COMMAND, "retrieve", QUESTION, "--json", "--no-progress", "--source", "memory"),
            *("--scope", ",".join(getattr(OURS, each) for each in OURS.__struct_fields__)),
            *("--gateway", house.running.gateway_url, "--token", house.granted),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "memory://local/records/m1" in {
        each["url"] for each in json.loads(ran.stdout)["sources"]
    }


def test_a_worker_that_is_killed_at_it_changes_nothing(house: House) -> None:
    asked = RetrieveRequest(query=QUESTION, constraints=wanted("memory"))
    stack = house.running.stack
    with house.client(house.granted) as client:
        expected = client.retrieve(QUESTION, asked.constraints)
        [worker] = [each.child for each in stack.processes if each.child.name == "worker-reduce1"]
        jobs = [client.submit(asked) for _ in range(4)]
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGKILL)
        wait_until(lambda: stack.watch() == ["worker-reduce1"], "the worker is started again")
        ended = [client.attend(each.id) for each in jobs]
    assert [what_counts(each) for each in ended] == [what_counts(expected)] * len(jobs)


def test_a_gateway_says_the_same_of_every_scope_without_a_grant(house: House) -> None:
    told = set()
    for branch in ("main", "never"):
        scope = {each: getattr(OURS, each) for each in OURS.__struct_fields__} | {"branch": branch}
        body = {"query": QUESTION, "constraints": {"scope": scope}}
        reply = httpx.post(
            f"{house.running.gateway_url.rstrip('/')}/v1/retrieve",
            json=body,
            headers={"authorization": f"Bearer {house.plain}"},
            timeout=30,
        )
        told.add((reply.status_code, str(reply.json()["detail"])))
    assert len(told) == 1
