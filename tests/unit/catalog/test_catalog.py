"""The rows: shipped ones hold, wrong ones are refused by name, and the reference page shows them all."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from signal_search.errors import Invalid

from infra.catalog.catalog import SourceRow, custom_rows, read_rows, shipped_rows
from infra.settings import load
from workers.registry import _ADAPTERS

REFERENCE = Path(__file__).parents[3] / "docs/reference/sources.md"
OWN = {
    "id": "handbook",
    "name": "Our handbook",
    "adapter": "site",
    "kind": "web",
    "endpoint": "https://docs.example/",
}


def test_the_shipped_rows_are_the_five_that_have_adapters() -> None:
    assert [row.id for row in shipped_rows()] == ["wikipedia", "arxiv", "crossref", "site", "feed"]
    assert {row.adapter for row in shipped_rows()} == set(_ADAPTERS)


@pytest.mark.parametrize("row", shipped_rows(), ids=lambda row: row.id)
def test_a_row_declares_what_its_adapter_pushes_down(row: SourceRow) -> None:
    assert set(row.constraints) == _ADAPTERS[row.adapter].pushes_down


def test_published_paces_are_cited_and_never_faster_than_published() -> None:
    paces = {row.id: row.published_pace_s for row in shipped_rows() if row.published_pace_s}
    assert paces == {"arxiv": 3.0}
    assert "tou" in next(row.pace_citation for row in shipped_rows() if row.id == "arxiv")


def test_every_enabled_source_is_in_the_catalogue() -> None:
    askable = {row.id for row in shipped_rows() if not row.is_generic}
    assert set(load().sources.enabled) <= askable
    assert askable == {"wikipedia", "arxiv", "crossref"}


def test_shipped_apis_are_reached_by_https() -> None:
    endpoints = [row.endpoint for row in shipped_rows() if row.endpoint]
    assert [urlsplit(each).scheme for each in endpoints] == ["https"] * 3


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
        ({"key_env": "HANDBOOK_KEY"}, "unknown or contradicting keys"),
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
