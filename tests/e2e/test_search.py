"""Searches against a real gateway, real workers and a real store, from the command line and the client."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from signal_search.client import Client
from signal_search.errors import ProgramError

from infra.loopback_web.server import LoopbackWeb
from tests.e2e.conftest import Running, environment

pytestmark = pytest.mark.e2e
COMMAND = str(Path(sys.executable).with_name("signal-search"))
WORDS = "Mount Corvel height"


def test_a_search_from_the_command_line(running: Running) -> None:
    command = [COMMAND, "search", WORDS]
    done = subprocess.run(
        [*command, "--sources", "crossref,scopus", "--gateway", running.gateway_url, "--json"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["hits"][0]["doi"] == "10.5555/merrin.2020.014"
    assert result["errors"] == {"scopus": "not_configured"}
    assert result["ranking"]["source"] == "default"


def test_a_program_that_fails_and_a_survey_from_the_client(running: Running) -> None:
    program = {"language": "qatlas-expr-v1", "score": "log1p(0 - lexical - 1)"}
    with Client(running.gateway_url) as client:
        with pytest.raises(ProgramError) as caught:
            client.search(WORDS, sources=("crossref",), ranking="scorer", scorer=program)
        assert (caught.value.code, caught.value.candidate_index) == ("domain", 0)
        survey = client.survey_search("Mount Corvel", queries=(WORDS,), sources=("crossref",))
    assert survey.hits[0].doi == "10.5555/merrin.2020.014"
    assert survey.coverage.exhaustive is False


@pytest.mark.timeout(240)
def test_a_direct_search_needs_no_stack(tmp_path: Path) -> None:
    with LoopbackWeb() as web:
        told = environment(web.port, SIGNAL_SEARCH_DATA_DIR=str(tmp_path), TMPDIR=str(tmp_path))
        command = [COMMAND, "search", "--direct", WORDS, "--sources", "crossref", "--json"]
        done = subprocess.run(
            [*command, "--deadline", "50", "--top", "1", "--max-results", "7"],
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
            env={**os.environ, **told},
        )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert [each["doi"] for each in result["hits"]] == ["10.5555/merrin.2020.014"]
    assert list(tmp_path.glob("signal-search-*")) == []  # the store is gone
