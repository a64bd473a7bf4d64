"""Searches against a real gateway, real workers and a real store, from the command line and the client."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from signal_search.client import Client
from signal_search.errors import ProgramError

from tests.e2e.conftest import Running

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
