"""How a program and its errors are shown, and how a file becomes one."""

import json
import re
from pathlib import Path

import pytest
from signal_search.errors import Invalid, ProgramError, ProgramTooLarge
from typer import Typer
from typer.testing import CliRunner, Result

import scoring.expression
from scoring.expression.capabilities import ERROR_CODES
from scoring.expression.compiler import compile_program
from scoring.expression.listing import described, marked_error
from scoring.expression.program_file import decode_program
from tests.fakes.scorer import a_program, compiled
from workers.commands import register


def test_a_plan_is_a_node_a_line() -> None:
    found = described(compiled("max(-lexical, 0.50)", "not is_missing(year)"))
    assert found["plan"] == [
        "filter", "  not", "    is_missing", "      year", "score", "  max", "    neg", "      lexical", "    0.5",
    ]  # fmt: skip
    assert (found["nodes"], found["depth"]) == (17, 5)


def shown(score: str) -> list[str]:
    source = a_program(score)
    with pytest.raises(ProgramError) as refused:
        compile_program(source)
    return marked_error(source, refused.value).splitlines()


@pytest.mark.parametrize(
    ("score", "line", "mark"),
    [
        ("1 + nope", "1 + nope", "    ^^^^"),
        ("  1 +\n  nope(2)", "  nope(2)", "  ^^^^"),
        ("1 + 量", "1 + 量", "    ^^"),
        ("1\t+ \x00", "1 + ?", "    ^"),
        ("1 +", "1 +", "   ^"),
        ("(citations +\n 1) * 2", "(citations +", " ^^^^^^^^^"),
        ("min(\n1)", "min(", "^^^^"),
    ],
)
def test_the_wrong_part_is_marked(score: str, line: str, mark: str) -> None:
    assert shown(score)[1:] == [line, mark]


def test_the_first_line_says_what_and_where() -> None:
    assert shown("1 +\n nope")[0] == (
        "unknown_name: There is no feature of this name (score, line 2, column 2)"
    )


def test_an_error_without_a_place_is_one_line() -> None:
    error = ProgramTooLarge("too large", field="scorer")
    assert marked_error(a_program("1"), error) == "scorer_too_large: too large"


@pytest.mark.parametrize(
    "data",
    [
        b"", b"[]", b"null", b'"lexical"', b"{", b'{"score":"1"}', b'{"language":"qatlas-expr-v1"}', b"\xff\xfe", b"[" * 4_000,
        b'{"language":"qatlas-expr-v2","score":"1"}', b'{"language":"qatlas-expr-v1","score":1}',
        b'{"language":"qatlas-expr-v1","score":"1","filter":null}', b'{"language":"qatlas-expr-v1","score":"1","x":[[]]}',
        b'{"language":"qatlas-expr-v1","score":"\xff"}', b'{"language":"qatlas-expr-v1","score":"1"} x',
    ],
)  # fmt: skip
def test_files_that_are_no_program(data: bytes) -> None:
    with pytest.raises(Invalid):
        decode_program(data)


def test_a_file_is_measured_before_it_is_read() -> None:
    text = b'{"language":"qatlas-expr-v1","score":"1"}'
    assert decode_program(text.ljust(4_096)).score == "1"
    with pytest.raises(ProgramTooLarge):
        decode_program(text.ljust(4_097))
    with pytest.raises(ProgramTooLarge):
        decode_program(b"\x00" * 4_097)


def test_every_code_that_is_raised_is_published() -> None:
    folder = Path(scoring.expression.__file__).parent
    code = "".join(
        path.read_text("utf-8") for path in [*folder.glob("*.py"), folder.parent / "academic.py"]
    )
    raised = set(re.findall(r'(?:error|_error|Fault)\(\s*"([a-z_0-9]+)"', code)) | set(
        re.findall(r'code="([a-z_]+)"', code)
    )
    assert raised | {"scorer_too_large"} == set(ERROR_CODES)


# --- the commands -----------------------------------------------------------------------------------------------------


def run(*arguments: str) -> Result:
    app = Typer()
    register(app)
    return CliRunner().invoke(app, ["scoring", *arguments])


def written(folder: Path, **fields: str) -> str:
    path = folder / "scorer.json"
    path.write_text(json.dumps({"language": "qatlas-expr-v1", **fields}), "utf-8")
    return str(path)


def test_check_prints_a_program(tmp_path: Path) -> None:
    ran = run("check", written(tmp_path, score="lexical"))
    assert ran.exit_code == 0
    assert ran.stdout.splitlines()[1:] == [
        "feature_version: academic-features-1", "nodes: 6", "depth: 3", "filter: true", "score: lexical",
        "filter", "  true", "score", "  lexical",
    ]  # fmt: skip
    as_json = json.loads(run("check", "--json", written(tmp_path, score="lexical")).stdout)
    assert as_json["valid"] is True
    assert as_json["hash"] in ran.stdout


def test_check_marks_an_error_and_ends_with_one(tmp_path: Path) -> None:
    ran = run("check", written(tmp_path, score="lexical", filter="lexical > nope"))
    assert (ran.exit_code, ran.stdout) == (1, "")
    assert ran.stderr.splitlines()[1:] == ["lexical > nope", "          ^^^^"]
    as_json = json.loads(run("check", "--json", written(tmp_path, score="nope")).stdout)
    assert as_json["detail"]["position"] == {"line": 1, "column": 1, "end_line": 1, "end_column": 5}
    assert (as_json["valid"], as_json["detail"]["code"]) == (False, "unknown_name")


def test_check_of_a_file_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "scorer.json"
    path.write_bytes(b"no")
    ran = run("check", str(path))
    assert isinstance(ran.exception, Invalid)
    assert run("check", str(tmp_path / "none")).exit_code == 2


def test_capabilities_are_one_document() -> None:
    found = json.loads(run("capabilities").stdout)
    assert found["language"] == "qatlas-expr-v1"
    assert "generation_available" not in found
