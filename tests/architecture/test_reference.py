"""The reference pages are what the code says: every error, setting and key is on them."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from signal_search.contracts.query import Tier
from signal_search.contracts.result import Stop, StopReason
from signal_search.errors import all_error_classes

from infra import keys
from infra.settings import DEFAULTS, Settings
from scoring.stop_rule import TEXTS, Evidence, StopRules, decide

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", REFERENCE / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def names_on(page: str) -> set[str]:
    return set(re.findall(r"^\| `([^`]+)` \|", (REFERENCE / page).read_text("utf-8"), re.MULTILINE))


def test_the_pages_are_as_the_code_would_write_them(generate: ModuleType) -> None:
    assert generate.stale() == [], "run `make docs`"


def test_every_error_class_has_its_code_on_the_page() -> None:
    assert {each.code for each in all_error_classes()} <= names_on("errors.md")


def test_every_code_raised_in_the_gateway_is_on_the_page() -> None:
    """A plain text search, independent of the generator's reading of the syntax tree."""
    raised = {
        code
        for path in (ROOT / "api_gateway").rglob("*.py")
        for code in re.findall(r'\(\s*(?:"[^"]*",\s*)?code="([a-z_]+)"', path.read_text("utf-8"))
    }
    assert raised
    assert raised <= names_on("errors.md")


def test_every_stop_reason_is_on_the_page_in_both_languages_with_what_it_means_at_each_tier() -> (
    None
):
    """The page against decisions: at L0 and L1 no end is a cut, at L2 and L3 the budget and the deadline are."""
    text = (REFERENCE / "stop-reasons.md").read_text("utf-8")
    rows = {
        cells[0].strip("`"): cells[1:]
        for line in text.splitlines()
        if line.startswith("| `")
        for cells in [[each.strip() for each in line.strip("|").split("|")]]
    }
    assert set(rows) == {each.value for each in StopReason}
    for reason in StopReason:
        is_cut = reason.value in {"budget_coverage", "deadline"}
        words = [TEXTS[reason]["zh"], TEXTS[reason]["en"]]
        assert rows[reason.value] == [*words, "false", "false", *[str(is_cut).lower()] * 2]
    spent = Evidence(tier=Tier.L2, left={"tokens": 0}, unmade=1)
    found = decide(spent, StopRules())
    assert isinstance(found, Stop)
    assert rows[found.reason.value][4] == str(found.exhausted).lower()


def test_every_setting_is_on_the_page() -> None:
    top = set(Settings.model_fields)
    on_page = names_on("settings.md")
    assert {name.split(".")[0] for name in on_page} == top
    assert {"politeness.interval_s", "gateway.port", "sources.site.max_pages"} <= on_page


def test_the_floor_of_the_public_interval_is_on_the_page() -> None:
    row = next(
        line
        for line in (REFERENCE / "settings.md").read_text("utf-8").splitlines()
        if line.startswith("| `politeness.interval_s`")
    )
    assert ">= 14.0" in row
    assert "`14.0`" in row


def test_every_figure_has_one_home() -> None:
    """No setting has a default in code, but for secrets, which have none in the file."""
    text = DEFAULTS.read_text("utf-8")
    in_code = {name for name, field in Settings.model_fields.items() if not field.is_required()}
    assert in_code == {"token", "flower_password"}
    assert not any(re.search(rf"^{name}\s*=", text, re.MULTILINE) for name in in_code)


def test_every_key_function_is_in_the_table() -> None:
    """Each key that the module can spell, with its variable parts replaced, is a row of its table."""
    rows = re.findall(r"^\| (\S+) \|", (REFERENCE / "keys.md").read_text("utf-8"), re.MULTILINE)
    spelled = {
        keys.job("JOB"),
        keys.job_log("JOB"),
        keys.job_once("JOB"),
        keys.job_documents("JOB"),
        keys.job_result("JOB"),
        keys.tenant_jobs("TENANT"),
        keys.idempotency("TENANT", "KEY"),
        keys.robots("ORIGIN"),
        keys.worker("NAME"),
        keys.source_health("SOURCE"),
        keys.metrics(),
        keys.boot(),
    }
    assert spelled <= set(rows)
