"""What the pages say exists: commands and options, paths, links, settings, metrics, routes, reason codes, snippets."""

import ast
import importlib
import importlib.util
import re
import shlex
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec
import pytest
import typer
from pydantic import BaseModel
from signal_search.cli import build_app
from signal_search.cli.terminal import (
    ANSWERED,
    EXHAUSTED,
    FAILED,
    INTERRUPTED,
    UNREACHED,
    USAGE,
)
from signal_search.contracts.adaptive_result import (
    AdaptiveResult,
    KeywordProgress,
    ScreenedResult,
)
from signal_search.contracts.document import DateKind
from signal_search.contracts.finding import Verdict
from signal_search.contracts.job import Job
from signal_search.contracts.query import RetrieveRequest, Tier
from signal_search.contracts.result import Result, StopReason
from signal_search.contracts.search_result import SearchHit, SearchResult, SurveyResult
from signal_search.contracts.source import SkipReason

from api_gateway.endpoints import ENDPOINTS
from infra.loopback_web.app import HOSTS
from infra.settings import Settings, load

ROOT = Path(__file__).parents[2]
TOP = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "sdk/README.md")
PAGES = [ROOT / name for name in TOP] + sorted((ROOT / "docs").rglob("*.md"))
WRITTEN_BY_COMMANDS = {"bench/results.json"}
IDS = [str(page.relative_to(ROOT)) for page in PAGES]
ROOMS = ("api_gateway", "workers", "scoring", "budget", "infra", "sdk", "tests", "bench", "docs")

FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
COMMAND = re.compile(r"(?:^|[\s;&|]|bin/)signal-search[ ]+([^|;#`\n]*)")
VARIABLE = re.compile(r"\bSIGNAL_SEARCH_[A-Z][A-Z_]*[A-Z]\b")
SUFFIXES = (".py", ".lua", ".toml", ".md", ".yml", ".sh", ".conf", ".json", ".txt", ".bib")

# Variables that are no settings: the client's own, and what the container file asks for.
OTHER_VARIABLES = {
    "SIGNAL_SEARCH_LANG",
    "SIGNAL_SEARCH_REDIS_PASSWORD",
    "SIGNAL_SEARCH_SECTION__FIELD",  # how they are formed
}
# The loopback web is a module, not a command.
OTHER_OPTIONS = {"--enforce-pace"}
# Files a reader makes, has, or gets from elsewhere, and those with a part to fill in.
OTHER_FILES = {
    "signal-search.toml",
    "expected.json",
    "commands.py",
    "sources.bib",
    "sources.toml",
    "robots.txt",
    "openapi.json",
    "bench/results.json",
}


def fences(page: Path, *languages: str) -> list[str]:
    found = FENCE.findall(page.read_text("utf-8"))
    return [body for language, body in found if language in languages]


def spans(page: Path) -> list[str]:
    return SPAN.findall(FENCE.sub("", page.read_text("utf-8")))


def commands(page: Path) -> Iterator[list[str]]:
    """Yield the words behind `signal-search` in shell blocks, terminal output and code spans."""
    shell = "\n".join(fences(page, "sh", "text")).replace("\\\n", " ")
    for text in (shell, *spans(page)):
        for found in COMMAND.findall(text):
            yield shlex.split(found)


@cache
def command_line() -> Any:
    """Return the command line with the commands of all rooms."""
    return typer.main.get_command(build_app())


def wrong_with(words: list[str]) -> str | None:
    """Return what the command line would not understand of `words`; None when all of it exists."""
    at: Any = command_line()
    for word in words:
        if word.startswith("-"):
            options = {each for param in at.params for each in (*param.opts, *param.secondary_opts)}
            if word.split("=")[0] not in {*options, "--help"}:
                return word
        elif hasattr(at, "commands"):
            if word not in at.commands:
                return word
            at = at.commands[word]
    return None


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_command_and_option_exists(page: Path) -> None:
    wrong = {" ".join(words): part for words in commands(page) if (part := wrong_with(words))}
    assert wrong == {}


def all_options(at: Any) -> set[str]:
    own = {each for param in at.params for each in (*param.opts, *param.secondary_opts)}
    below = (all_options(each) for each in getattr(at, "commands", {}).values())
    return own.union(*below)


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_option_by_itself_exists(page: Path) -> None:
    named = {span.split()[0].split("=")[0] for span in spans(page) if re.match(r"--[a-z]", span)}
    assert named <= all_options(command_line()) | {*OTHER_OPTIONS}


def test_the_pages_name_the_commands() -> None:
    """So that the check above cannot pass by seeing nothing."""
    seen = {tuple(words[:1]) for page in PAGES for words in commands(page)}
    wanted = [
        "retrieve",
        "export",
        "up",
        "worker",
        "gateway",
        "flower",
        "doctor",
        "demo",
        "jobs",
        "token",
        "sources",
    ]
    assert {(name,) for name in wanted} <= seen


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["retrieve", "why", "--source", "site:https://a.example/"], None),
        (["retrieve", "why", "--sauce", "x"], "--sauce"),
        (["jobs", "replay", "FILE", "--set", "a=1"], None),
        (["jobs", "reply", "FILE"], "reply"),
        (["up", "--no-flower"], None),
        (["worker", "--flower"], "--flower"),
    ],
)
def test_the_check_of_commands_sees_a_wrong_one(words: list[str], wrong: str | None) -> None:
    assert wrong_with(words) == wrong


def refusal_of(words: list[str]) -> str | None:
    """Return why a whole command line, its values included, is not understood; None when it is."""
    at: Any = command_line()
    while words and words[0] in getattr(at, "commands", {}):
        at, *words = at.commands[words[0]], *words[1:]
    for each in words:
        if re.fullmatch(r"[\w-]+\.\w+", each):
            Path(each).touch()  # where a file must exist, it is the reader's
    try:
        with at.make_context(at.name, list(words)):
            return None
    except typer.Exit:  # of --help
        return None
    except typer.BadParameter.__base__ as error:
        return str(error)


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_command_to_type_is_understood(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shell = "\n".join(fences(page, "sh")).replace("\\\n", " ")
    typed = [shlex.split(found) for found in COMMAND.findall(shell)]
    wrong = {shlex.join(words): why for words in typed if (why := refusal_of(words))}
    assert wrong == {}


@pytest.mark.parametrize(
    ("line", "understood"),
    [
        ("survey goal --queries a --queries b", True),
        ("survey goal --queries a b", False),
        ("jobs show", False),
        ("jobs replay job.bundle", True),
        ("up --workers-crawl many", False),
        ("up --help", True),
    ],
)
def test_the_check_of_command_lines_sees_a_wrong_one(
    line: str, understood: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (refusal_of(line.split()) is None) is understood


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_make_target_exists(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z0-9-]+):", makefile, re.MULTILINE))
    lines = [line for body in fences(page, "sh") for line in body.splitlines()]
    called = [line for line in (*lines, *spans(page)) if re.match(r"make [a-z]", line)]
    named = {word for line in called for word in line.split()[1:] if word.isalpha()}
    assert named <= targets


def paths(page: Path) -> set[str]:
    """Return every code span that is written like a path of this repository."""
    found = set()
    for span in spans(page):
        if re.fullmatch(r"[\w.*-]+(/[\w.*-]*)*", span) is None or "NAME" in span:
            continue
        if (span.split("/")[0] in ROOMS and "/" in span) or (
            span.endswith(SUFFIXES) and span not in OTHER_FILES
        ):
            found.add(span)
    return found - WRITTEN_BY_COMMANDS


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_path_exists(page: Path) -> None:
    assert {each for each in paths(page) if not list(ROOT.glob(each.rstrip("/")))} == set()


def test_the_map_names_paths() -> None:
    assert len(paths(ROOT / "ARCHITECTURE.md")) > 60


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_link_leads_somewhere(page: Path) -> None:
    links = [link.split("#")[0] for link in LINK.findall(FENCE.sub("", page.read_text("utf-8")))]
    local = [link for link in links if link and not link.startswith(("http:", "https:"))]
    assert [link for link in local if not (page.parent / link).exists()] == []


def test_every_page_is_linked_from_another() -> None:
    linked = {
        (page.parent / link.split("#")[0]).resolve()
        for page in PAGES
        for link in LINK.findall(page.read_text("utf-8"))
    }
    assert [
        page for page in PAGES if page.resolve() not in linked and page.name != "README.md"
    ] == []


def is_setting(name: str) -> bool:
    model: Any = Settings
    for part in name.split("."):
        if isinstance(model, type) and issubclass(model, BaseModel):
            if part not in model.model_fields:
                return False
            model = model.model_fields[part].annotation
        elif getattr(model, "__origin__", None) is not dict:
            return False
        else:
            model = model.__args__[1]
    return True


def is_field(name: str) -> bool:
    """Return whether a request has this field."""
    kind: Any = RetrieveRequest
    for part in name.split("."):
        hints = get_type_hints(kind) if hasattr(kind, "__struct_fields__") else {}
        if part not in hints:
            return False
        kind = hints[part]
    return True


def is_importable(name: str) -> bool:
    room = name.split(".", maxsplit=1)[0]
    if room not in {*ROOMS, "signal_search"}:
        return False
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def is_entry_point_group(name: str) -> bool:
    return f'entry-points."{name}"' in (ROOT / "pyproject.toml").read_text("utf-8")


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_dotted_name_is_a_setting_or_a_module(page: Path) -> None:
    dotted = {each for each in spans(page) if re.fullmatch(r"[a-z_]+(\.[a-z_0-9]+)+", each)}
    names = {each for each in dotted if not each.endswith(SUFFIXES)} - {*HOSTS}
    known = (is_setting, is_field, is_importable, is_entry_point_group)
    assert {each for each in names if not any(check(each) for check in known)} == set()


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_variable_is_a_setting(page: Path) -> None:
    named = set(VARIABLE.findall(page.read_text("utf-8"))) - OTHER_VARIABLES
    inside = {
        each: each.removeprefix("SIGNAL_SEARCH_").lower().replace("__", ".") for each in named
    }
    assert [each for each, setting in inside.items() if not is_setting(setting)] == []


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("politeness.interval_s", True),
        ("jobs.deadline_s", True),
        ("tiers.L2.width", True),
        ("sba.weights.recency", True),
        ("politness.interval_s", False),
        ("politeness.interval", False),
        ("gateway.port.number", False),
    ],
)
def test_the_check_of_settings_knows_them(name: str, known: bool) -> None:
    assert is_setting(name) is known


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_toml_block_is_a_valid_configuration(page: Path) -> None:
    for body in fences(page, "toml"):
        load(**tomllib.loads(body))


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_python_block_imports_what_exists(page: Path) -> None:
    for body in fences(page, "python"):
        for node in ast.walk(ast.parse(body)):
            if isinstance(node, ast.ImportFrom) and node.module:
                module = importlib.import_module(node.module)
                assert [each.name for each in node.names if not hasattr(module, each.name)] == []


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_metric_is_counted_somewhere(page: Path) -> None:
    files = ("infra/metrics", "infra/store_metrics", "budget/gauges", "api_gateway/gauges")
    code = "".join((ROOT / f"{each}.py").read_text("utf-8") for each in files)
    named = {each for each in spans(page) if re.fullmatch(r"signal_search_[a-z_]+", each)}
    assert {each for each in named if f'"{each.removesuffix("_total")}"' not in code} == set()


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_route_is_served(page: Path) -> None:
    text = page.read_text("utf-8")
    asked = re.findall(r"/v1/[\w/{}-]+|(?<![\w.])/(?:healthz|readyz|metrics)\b", text)
    served = {re.sub(r"\{\w+\}", "{}", each.path) for each in ENDPOINTS}
    shapes = {re.sub(r"\{\w+\}|\bJOB\b", "{}", each).rstrip("/") for each in asked}
    assert shapes <= served


def first_cells(page: str, heading: str) -> set[str]:
    """Return the codes in the first column of the table below a heading."""
    text = (ROOT / page).read_text("utf-8").split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    cells = re.findall(r"^\| ([^|]*) \|", text, re.MULTILINE)
    return {code for cell in cells for code in SPAN.findall(cell)}


def test_the_result_page_has_every_code() -> None:
    page = "docs/reference/result.md"
    assert first_cells(page, "Stop reasons") == {each.value for each in StopReason}
    assert first_cells(page, "Verdicts") == {each.value for each in Verdict}
    assert first_cells(page, "Tiers") == {each.value for each in Tier}
    assert first_cells(page, "Dates") == set(get_args(DateKind))
    assert {each.value for each in SkipReason} <= first_cells(page, "What became of a source")


def test_the_result_page_has_every_field() -> None:
    identity = {"job_id", "query"}
    assert first_cells("docs/reference/result.md", "Fields") == {*get_type_hints(Result)} - identity


def test_the_search_result_page_has_every_field() -> None:
    page, identity = "docs/reference/search-result.md", {"job_id"}
    assert first_cells(page, "Fields") == {*get_type_hints(SearchResult)} - identity
    assert first_cells(page, "Hits") == {*get_type_hints(SearchHit)}
    own = {*get_type_hints(SurveyResult)} - {*get_type_hints(SearchResult)}
    assert first_cells(page, "Survey") == own | {"queries"}


def test_the_adaptive_result_page_has_every_field() -> None:
    page = "docs/reference/adaptive-result.md"
    tables: dict[str, type[msgspec.Struct]] = {
        "Fields": AdaptiveResult,
        "Results": ScreenedResult,
        "Keywords": KeywordProgress,
    }
    for heading, struct in tables.items():
        named = {each.encode_name for each in msgspec.structs.fields(struct)}
        assert named <= first_cells(page, heading), heading


def test_the_names_of_progress_exist() -> None:
    text = (ROOT / "docs/how-to/scale-out.md").read_text("utf-8")
    fields = {*get_type_hints(get_type_hints(Job)["progress"])}
    assert {"waiting_on", "eta_ms"} <= fields
    assert "`waiting_on`" in text
    assert "`eta_ms`" in text


def test_the_readme_has_every_exit_code() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    codes = {int(each) for each in re.findall(r"^\| (\d+) \| ", text, re.MULTILINE)}
    assert codes == {ANSWERED, FAILED, USAGE, EXHAUSTED, UNREACHED, INTERRUPTED}


def test_decisions_are_numbered_without_gaps_and_complete() -> None:
    pages = sorted((ROOT / "docs/adr").glob("[0-9]*.md"))
    assert [int(page.name[:4]) for page in pages] == list(range(1, len(pages) + 1))
    for page in pages:
        text = page.read_text("utf-8")
        assert text.startswith(f"# {page.name[:4]}: ")
        headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
        assert headings == ["Context", "Decision", "Consequences", "Measured"], page.name
        assert len(text.splitlines()) <= 70, page.name
