"""Research memory of a real deployment: one case's whole life, from the first note to an answer on a command line."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from signal_search.client import Client
from signal_search.client.memory_calls import scope_of
from signal_search.errors import NotFound
from signal_search.receipts import payload_hash

from infra.stack import Parts
from infra.tokens import TokenStore
from tests.e2e.conftest import Running, free_port, start

pytestmark = pytest.mark.e2e
COMMAND = str(Path(sys.executable).with_name("signal-search"))
CONTENT = {"environment": "bench", "verification_summary": "ran", "evidence_refs": ["r1"]}
SCOPE = "lab,notes,repo,main,bench"


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, Path]]:
    """A deployment of its own: a token locks the door for everybody without one."""
    folder = tmp_path_factory.mktemp("memory")
    parts = Parts(
        workers={"crawl": 1, "reduce": 1}, gateway=True, port=free_port(), web_port=free_port()
    )
    running = start(folder, parts)
    yield running, folder
    running.stack.stop()


def run(*words: str, token: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    told = {"SIGNAL_SEARCH_TOKEN": token, **more}
    return subprocess.run(
        [COMMAND, *words],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
        env={**os.environ, **told},
    )


@pytest.mark.timeout(240)
def test_a_case_from_the_first_note_to_an_answer(
    deployment: tuple[Running, Path], tmp_path: Path
) -> None:
    running, folder = deployment

    store = TokenStore.load(folder / "tokens.json")
    granted = (scope_of(SCOPE),)
    people = {
        each: store.create(
            "lab",
            ["read", "write"],
            {},
            now_ms=0,
            person=each,
            research=granted if each != "eve" else (),
        )[0]
        for each in ("ann", "bob", "eve")
    }
    payload = {"steps": ["lower the inlet"]}
    with Client(running.gateway_url, token=people["ann"]) as client:
        ann = client.memory(SCOPE)
        case = ann.save("Why it stalled", "the pump cavitates", kind="research_case").memory_id
        ann.verify(case)
        asked = ann.ask_approval(case, payload)
        with Client(running.gateway_url, token=people["bob"]) as other:
            other.memory(SCOPE).decide(asked.package.package_id, "approved")
        ann.give_receipt(
            {
                "package_id": asked.package.package_id,
                "case_memory_id": case,
                "payload_hash": payload_hash(payload),
                "receipt_token": asked.receipt_token,
                "receipt_id": "step-1",
                "status": "passed",
                "receipt": CONTENT,
            }
        )
        assert ann.query("cavitates").answer.evidence == ()
        ann.publish(case)
    places = ("--scope", SCOPE, "--gateway", running.gateway_url, "--json")
    # A folder of its own: what is found comes over the gateway.
    own = {"SIGNAL_SEARCH_DATA_DIR": str(tmp_path)}
    found = run("research", "query", "cavitates", *places, token=people["bob"], **own)
    assert found.returncode == 0, found.stderr
    evidence = json.loads(found.stdout)["evidence"]
    assert [each["chunk_id"] for each in evidence] == [f"research:{case}"]
    with Client(running.gateway_url, token=people["eve"]) as client, pytest.raises(NotFound):
        client.memory(SCOPE).get(case)
    assert not list(tmp_path.glob("**/*.memory"))
