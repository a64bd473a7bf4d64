"""The rows: shipped ones hold, wrong ones are refused by name, and the reference page shows them all."""

import json
import os
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from signal_search.errors import Invalid

from infra.catalog.catalog import SourceRow, custom_rows, read_rows, shipped_rows
from infra.settings import load
from workers.adapter import SourceConfig
from workers.planning.choose_sources import GENERAL_CATEGORIES
from workers.planning.topics import _WORDS, SCHEME_TOPICS
from workers.registry import _ADAPTERS, ALL

REFERENCE = Path(__file__).parents[3] / "docs/reference/sources.md"
RECORDINGS = Path(__file__).parents[2] / "contract/recordings"
OWN = {
    "id": "handbook",
    "name": "Our handbook",
    "adapter": "site",
    "kind": "web",
    "endpoint": "https://docs.example/",
}


SEED = Path(
    os.environ.get("SIGNAL_DATA_DIR", Path(__file__).parents[3] / "../shared/data/signal")
) / "sources.json"  # fmt: skip
ROWS = {row.id: row for row in shipped_rows()}
CLOSED = [row for row in ROWS.values() if row.access == "closed"]
OPEN = [row for row in ROWS.values() if row.access != "closed"]


def test_there_are_at_least_sixty_five_rows_in_eight_categories_and_two_languages() -> None:
    assert len(ROWS) >= 65
    seen = {row.category for row in OPEN if not row.is_generic} | {row.category for row in CLOSED}
    assert seen >= {"intl_engines", "reference", "academic_api", "authoritative", "industry_keyless", "privacy_extra", "cn_official", "ai_search"}  # fmt: skip
    assert any(row.languages == ("zh",) for row in OPEN)
    assert any("en" in row.languages for row in OPEN)
    assert {row.adapter for row in ROWS.values()} == set(_ADAPTERS)


def test_the_floor_that_is_always_asked_yields_content_without_a_key() -> None:
    floor = [row for row in OPEN if row.category in GENERAL_CATEGORIES and not row.topics]
    assert [row.id for row in floor if row.access == "open" and row.endpoint] != []
    assert "wikipedia" in {row.id for row in floor}


@pytest.mark.skipif(not SEED.is_file(), reason="no sources.json: set SIGNAL_DATA_DIR")
def test_every_place_of_the_first_catalogue_is_here_or_replaced() -> None:
    wanted = {row["id"] for row in json.loads(SEED.read_text("utf-8"))["sources"]}
    covered = {name.lower() for row in ROWS.values() for name in (row.id, *row.replaces)}
    assert len(wanted) == 65
    assert {name for name in wanted if name.lower() not in covered} == set()


@pytest.mark.parametrize("row", CLOSED, ids=lambda row: row.id)
def test_a_closed_place_says_why_and_what_covers_it(row: SourceRow) -> None:
    assert len(row.terms) >= 20
    assert row.alternative
    assert {ROWS[each].access for each in row.alternative} <= {"open", "key"}


@pytest.mark.parametrize("row", OPEN, ids=lambda row: row.id)
def test_an_open_row_names_its_terms_and_its_replies_are_recorded(row: SourceRow) -> None:
    assert row.terms
    assert (RECORDINGS / row.adapter / "expected.json").is_file()


@pytest.mark.parametrize("row", OPEN, ids=lambda row: row.id)
def test_a_row_declares_what_its_adapter_pushes_down(row: SourceRow) -> None:
    config = SourceConfig(id=row.id, endpoint=row.endpoint, params=row.params)
    assert set(row.constraints) == _ADAPTERS[row.adapter](config).pushes_down


def test_the_topics_of_rows_are_topics_that_questions_can_have() -> None:
    known = set(_WORDS) | set(SCHEME_TOPICS.values())
    assert {topic for row in ROWS.values() for topic in row.topics} - known == set()


@pytest.mark.parametrize(
    "row", [row for row in OPEN if row.published_pace_s], ids=lambda row: row.id
)
def test_a_published_pace_is_cited(row: SourceRow) -> None:
    assert len(row.pace_citation) > 20


def test_arxiv_asks_for_three_seconds() -> None:
    assert ROWS["arxiv"].published_pace_s == 3.0


def test_every_enabled_source_is_in_the_catalogue() -> None:
    askable = {row.id for row in OPEN if not row.is_generic}
    assert set(load().sources.enabled) - {ALL} <= askable


def test_shipped_apis_are_reached_by_https() -> None:
    apis = [row.endpoint for row in ROWS.values() if row.endpoint and row.kind == "api"]
    assert {urlsplit(each).scheme for each in apis} == {"https"}


def test_custom_rows_are_the_same_rows_and_internal_by_default() -> None:
    (mine,) = custom_rows([OWN])
    assert isinstance(mine, SourceRow)
    assert (mine.id, mine.source_type, mine.category, mine.access) == (
        "handbook",
        "internal",
        "private_kb",
        "open",
    )
    (stated,) = custom_rows([OWN | {"source_type": "vendor"}])
    assert stated.source_type == "vendor"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"kind": "ftp"}, "kind"),
        ({"id": "Our Handbook"}, "id"),
        ({"published_pace_s": -1}, "published_pace_s"),
        ({"secret": "hunter2"}, "unknown or contradicting keys"),
        ({"endpoint": "file:///etc/passwd"}, "unknown or contradicting keys"),
        ({"endpoint": "https://user:hunter2@docs.example/"}, "unknown or contradicting keys"),
        ({"endpoint": "https://docs.example:99999/"}, "unknown or contradicting keys"),
        ({"access": "key"}, "unknown or contradicting keys"),
        ({"access": "open", "key_env": "HANDBOOK_KEY"}, "unknown or contradicting keys"),
        ({"published_pace_s": 2.0}, "unknown or contradicting keys"),
        ({"access": "closed"}, "unknown or contradicting keys"),
    ],
)
def test_wrong_rows_are_refused_by_number_and_key_never_by_value(
    change: dict[str, object], named: str
) -> None:
    with pytest.raises(Invalid) as caught:
        custom_rows([OWN, OWN | {"id": "second"} | change])
    assert caught.value.field == "sources.custom"
    assert caught.value.message == f"Source row 2 is not valid: {named}."
    assert "hunter2" not in caught.value.message


@pytest.mark.parametrize("change", [{"endpoint": ""}, {"id": "wikipedia"}])
def test_a_custom_row_needs_an_endpoint_and_an_id_of_its_own(change: dict[str, object]) -> None:
    with pytest.raises(Invalid, match="an id of its own"):
        custom_rows([OWN | change])


def test_ids_are_given_once() -> None:
    with pytest.raises(Invalid, match="same id"):
        read_rows([OWN, OWN], field="x")


def _table() -> dict[str, list[str]]:
    lines = [line for line in REFERENCE.read_text("utf-8").splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0].strip("`"): row[1:] for row in cells}


@pytest.mark.parametrize("row", shipped_rows(), ids=lambda row: row.id)
def test_the_reference_page_shows_the_row(row: SourceRow) -> None:
    pace = f"{row.published_pace_s:g} s" if row.published_pace_s else "-"
    assert _table()[row.id] == [
        row.name,
        row.kind,
        row.category,
        ", ".join(row.languages) or "any",
        ", ".join(row.topics) or "any",
        row.access,
        ", ".join(row.constraints) or "-",
        pace,
        row.source_type,
    ]


def test_the_reference_page_explains_every_key() -> None:
    text = REFERENCE.read_text("utf-8")
    assert [name for name in SourceRow.model_fields if f"- `{name}`" not in text] == []
