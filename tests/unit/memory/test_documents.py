"""Evidence of research memory as documents: an address for each place, the same whenever it is found."""

from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from signal_search.contracts.research import EvidenceChunk

from scoring.identity import document_id, site_of
from tests.fakes.research import NOW_MS, a_scope
from workers.fetching.redaction import redact_url
from workers.memory.documents import address_of, documents_of


def a_chunk(source_ref: str, content: str = "text", locator: str | None = None) -> EvidenceChunk:
    return EvidenceChunk(
        chunk_id="c", scope=a_scope(), content=content, source_ref=source_ref, locator=locator
    )


@pytest.mark.parametrize(
    ("source_ref", "locator", "expected"),
    [
        ("research_memory:mem_1", None, "memory://local/records/mem_1"),
        ("research_memory:a/b #c", None, "memory://local/records/a%2Fb%20%23c"),
        ("research_memory:mem_1", "page 4", "memory://local/records/mem_1#page%204"),
        ("docs/a.md", "line:3-9", "memory://local/files/docs/a.md#line:3-9"),
        ("docs/a b#1.md", "line:7", "memory://local/files/docs/a%20b%231.md#line:7"),
        ("文.md", "line:1-2", "memory://local/files/%E6%96%87.md#line:1-2"),
    ],
)
def test_an_address_leads_back_to_its_place(
    source_ref: str, locator: str | None, expected: str
) -> None:
    assert address_of(a_chunk(source_ref, locator=locator)) == expected
    assert redact_url(expected) == expected


@given(
    path=st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30),
    locator=st.none() | st.from_regex(r"line:[1-9][0-9]{0,4}(-[1-9][0-9]{0,4})?", fullmatch=True),
)
def test_the_place_can_be_read_off_its_address(path: str, locator: str | None) -> None:
    parts = urlsplit(address_of(a_chunk(path, locator=locator)))
    if not path.startswith("research_memory:"):
        assert unquote(parts.path) == f"/files/{path}"
    assert unquote(parts.fragment) == (locator or "")


def dated(name: str, value: str) -> EvidenceChunk:
    return structs.replace(a_chunk("a.md"), metadata={name: value})


@pytest.mark.parametrize(
    ("chunk", "expected"),
    [
        (dated("updated_at", "2026-09-20T23:59:59.000000Z"), ("2026-09-20", "updated")),
        (dated("modified_at", "2020-02-29T12:00:00Z"), ("2020-02-29", "modified")),
        # The day is that of UTC, and one that is still to come is none.
        (dated("modified_at", "2026-09-21T01:00:00+02:00"), ("2026-09-20", "modified")),
        (dated("modified_at", "2026-09-21T14:13:20Z"), ("2026-09-21", "modified")),
        (dated("modified_at", "2026-09-21T14:13:21Z"), ("", "none")),
        (dated("created_at", "2020-01-01T00:00:00Z"), ("", "none")),
    ],
)
def test_a_document_has_the_day_of_its_record_or_file(
    chunk: EvidenceChunk, expected: tuple[str, str]
) -> None:
    [made] = documents_of([chunk], NOW_MS)  # 2026-09-21T14:13:20Z
    assert (made.published, made.date_kind) == expected


def test_a_document_says_where_it_is_from_and_no_more_than_is_known() -> None:
    memory = a_chunk("research_memory:m", "A title\n\nWhat was learned.")
    lines = a_chunk("docs/a.md", "one line", "line:3")
    first, second = documents_of([memory, lines], NOW_MS)
    assert (first.title, first.text) == ("A title", "A title\n\nWhat was learned.")
    assert (second.title, second.text) == ("docs/a.md", "one line")
    for each in (first, second):
        assert each.doc_id == document_id(each.url, each.text)
        assert (each.source_id, each.source_type) == ("memory", "internal")
        assert (each.published, each.date_kind, each.record) == ("", "none", False)
        assert each.fetched_at_ms == NOW_MS
        assert each.site == site_of(each.url) == "local"
