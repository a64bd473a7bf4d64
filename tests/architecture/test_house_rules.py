"""The rules of the house that no linter knows, read from the tree itself."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("api_gateway", "budget", "infra", "scoring", "workers")
SOURCES = sorted(
    path
    for room in (*ROOMS, "sdk/src/signal_search", "bench", "docs")
    for path in (ROOT / room).rglob("*.py")
)
TEXT_SUFFIXES = {
    ".py",
    ".md",
    ".toml",
    ".txt",
    ".yml",
    ".lua",
    ".sh",
    ".conf",
    ".json",
    ".cfg",
    ".html",
    ".js",
    "",
}
MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 40
FORBIDDEN_NAMES = {"utils", "helpers", "common", "manager", "base", "service"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def length(node: Function) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def repository_files() -> list[Path]:
    """Every file that is, or would be, in the repository."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    files = [ROOT / name for name in listed.decode().split("\0") if name]
    return [path for path in files if path.is_file()]


def text_files() -> list[Path]:
    return [path for path in repository_files() if path.suffix in TEXT_SUFFIXES]


def test_there_is_something_to_check() -> None:
    assert len(SOURCES) > 30
    assert len(text_files()) > len(SOURCES)


def test_import_floors_hold() -> None:
    run = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_no_file_is_too_long() -> None:
    lengths = {named(path): len(path.read_text("utf-8").splitlines()) for path in SOURCES}
    assert {name: n for name, n in lengths.items() if n > MAX_FILE_LINES} == {}


def test_no_function_is_too_long() -> None:
    found = {
        f"{named(path)}:{node.name}": length(node)
        for path in SOURCES
        for node in functions(ast.parse(path.read_text("utf-8")))
    }
    assert {name: n for name, n in found.items() if n > MAX_FUNCTION_LINES} == {}


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        named(path)
        for path in SOURCES
        if (text := path.read_text("utf-8")).strip() and not ast.get_docstring(ast.parse(text))
    ]
    assert silent == []


def test_no_file_has_a_name_that_says_nothing() -> None:
    assert [named(path) for path in SOURCES if path.stem in FORBIDDEN_NAMES] == []


def dynamic_calls(text: str) -> list[str]:
    """Return the names of calls that run text as code, however they are reached."""
    banned = {"eval", "exec", "__import__", "compile"}
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and node.id in banned:
            found.append(node.id)
        elif isinstance(node, ast.Attribute) and node.attr == "__import__":
            found.append(node.attr)
    return found


def test_no_text_is_run_as_code() -> None:
    found = {named(path): dynamic_calls(path.read_text("utf-8")) for path in SOURCES}
    assert {name: calls for name, calls in found.items() if calls} == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("eval('1')", ["eval"]),
        ("run = exec", ["exec"]),
        ("__import__('os')", ["__import__"]),
        ("import builtins\nbuiltins.__import__('os')", ["__import__"]),
        ("import re\nre.compile('x')", []),
        ("judge.eval()", []),
    ],
)
def test_the_check_for_code_from_text_sees_it(text: str, expected: list[str]) -> None:
    assert dynamic_calls(text) == expected


def test_broad_handlers_stand_in_two_files_only() -> None:
    found = [
        named(path)
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ExceptHandler)
        and isinstance(node.type, ast.Name)
        and node.type.id == "Exception"
    ]
    assert set(found) <= {"workers/tasks.py", "api_gateway/problems.py"}


def test_no_installed_package_claims_a_room() -> None:
    """The rooms are top-level names; the day another package has one of them, this fails."""
    claimed = [
        (each.metadata["Name"], file.parts[0])
        for each in distributions()
        if not (each.metadata["Name"] or "").startswith("signal-search")
        for file in each.files or []
        if file.parts[0] in {*ROOMS, "signal_search"}
    ]
    assert claimed == []


# Written in pieces, so that this file does not find itself.
MACHINE_PATHS = re.compile(
    "|".join(["/wo" + "rk/", "/ho" + "me/[a-z]", "/r" + "oot/", "/fa" + "rm/", "/Us" + "ers/"])
)
INDEX_HOSTS = re.compile(
    "|".join(["py" + r"pi\.org", "python" + "hosted", "--index" + "-url", "npmjs" + r"\.org"])
)


def lines_with(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{named(path)}:{number}"
        for path in text_files()
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_path_of_a_machine_is_in_the_repository() -> None:
    assert lines_with(MACHINE_PATHS) == []


def test_no_package_index_is_in_the_repository() -> None:
    assert lines_with(INDEX_HOSTS) == []
