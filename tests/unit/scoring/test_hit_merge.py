"""Hits of one page or work become one: which are the same, and what is kept of each."""

import pytest
from signal_search.contracts.document import Author
from signal_search.contracts.hit import Hit

from scoring.disjoint_sets import groups_of
from scoring.hit_identity import hit_keys, page_key
from scoring.hit_merge import merge_hits

SAME = [
    ("http://example.com/a", "https://www.example.com/a/"),
    ("https://example.com", "https://example.com/"),
    ("https://m.example.com/a", "https://example.com/a"),
    ("https://en.m.wikipedia.org/wiki/X", "https://en.wikipedia.org/wiki/X"),
    ("https://amp.example.com/a", "https://example.com/a"),
    ("https://example.com/a/amp", "https://example.com/a"),
    ("https://example.com/a/amp/", "https://example.com/a"),
    ("https://example.com/a.amp.html", "https://example.com/a.html"),
    ("https://example.com/a?amp=1&b=2", "https://example.com/a?b=2"),
    ("https://www.google.com/amp/s/example.com/a", "https://example.com/a"),
    ("https://example.com/a?utm_source=x&b=1#top", "https://example.com/a?b=1"),
    ("https://doi.org/10.1000/ABC", "https://dx.doi.org/10.1000/abc"),
    ("https://arxiv.org/abs/2401.12345v2", "https://arxiv.org/pdf/2401.12345"),
]
DIFFERENT = [
    ("https://example.com/a", "https://example.com/b"),
    ("https://example.com/a", "https://example.com/A"),
    ("https://example.com/?id=1", "https://example.com/?id=2"),
    ("https://m.com/a", "https://a.com/a"),
    ("https://www.com/", "https://com/"),
    ("https://example.com/camp", "https://example.com/c"),
    ("https://example.com:8080/a", "https://example.com/a"),
    ("https://a.example.com/", "https://b.example.com/"),
    ("https://example.com/amplifier", "https://example.com/"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_page(one: str, other: str) -> None:
    assert page_key(one) == page_key(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_pages(one: str, other: str) -> None:
    assert page_key(one) != page_key(other)


@pytest.mark.parametrize("url", [each for pair in (*SAME, *DIFFERENT) for each in pair])
def test_a_key_is_its_own_key(url: str) -> None:
    assert page_key(page_key(url)) == page_key(url)


def test_a_work_is_known_by_its_ids() -> None:
    paper = Hit(
        url="https://journal.example/x", doi="10.48550/arXiv.2401.12345", arxiv_id="2401.12345v3"
    )
    assert hit_keys(paper) == ("https://journal.example/x", "arxiv:2401.12345")
    assert hit_keys(Hit(url="", doi="https://doi.org/10.1000/ABC")) == ("doi:10.1000/abc",)
    assert hit_keys(Hit(url="")) == ()


def test_the_first_keeps_its_place_and_the_others_better_it() -> None:
    exa = [
        Hit(
            url="https://a.example/x/", title="A long title that was cut …", source_id="exa", rank=2
        ),
        Hit(url="https://b.example/", title="B", source_id="exa", rank=1),
    ]
    tavily = [
        Hit(
            url="http://www.a.example/x?utm_source=t",
            title="A long title",
            snippet="Short.",
            published="Tue, 05 May 2026 10:00:00 GMT",
            source_id="tavily",
            rank=1,
        )
    ]
    papers = [
        Hit(
            url="https://a.example/x",
            title="A",
            snippet="A longer snippet.",
            published="2026",
            source_id="openalex",
            doi="10.1000/x",
            authors=(Author(literal="Ada"),),
            citations=7,
            rank=4,
        ),
        Hit(url="https://doi.org/10.1000/X", source_id="openalex", citations=9, container="J"),
    ]
    first, second = merge_hits([exa, tavily, papers])
    assert (first.url, first.title) == ("https://a.example/x/", "A long title")
    assert (first.snippet, first.published) == ("A longer snippet.", "2026-05-05")
    assert first.source_ids == ("exa", "tavily", "openalex")
    assert (first.doi, first.citations, first.container) == ("10.1000/x", 9, "J")
    assert (first.authors, first.rank) == ((Author(literal="Ada"),), 1)
    assert second.url == "https://b.example/"


@pytest.mark.parametrize(
    ("dates", "earliest"),
    [
        (("2026-05-05", "2025-12-31"), "2025-12-31"),
        (("2026", "2026-05-05"), "2026-05-05"),  # the year says nothing earlier
        (("2025", "2026-05-05"), "2025"),
        (("2026-05", "2026-05-30"), "2026-05-30"),
        (("", "3 days ago"), ""),
        (("", "2026-05-05T01:00:00.000Z"), "2026-05-05"),
    ],
)
def test_the_earliest_date_is_kept_and_the_exact_one(dates: tuple[str, ...], earliest: str) -> None:
    [merged] = merge_hits([[Hit(url="https://a.example/", published=each) for each in dates]])
    assert merged.published == earliest


def test_a_pages_own_words_stand_before_a_models() -> None:
    model = Hit(
        url="https://a.example/", title="Told", snippet="A long tale by a model.", by_model=True
    )
    page = Hit(url="https://a.example/", snippet="Own words.")
    [both] = merge_hits([[model], [page]])
    assert (both.title, both.snippet, both.by_model) == ("Told", "Own words.", False)
    [alone] = merge_hits([[model]])
    assert (alone.snippet, alone.by_model) == ("A long tale by a model.", True)


def test_a_very_long_title_gives_way_to_a_short_one() -> None:
    long = Hit(url="https://a.example/", title="word " * 60)
    [merged] = merge_hits([[long, Hit(url="https://a.example/", title="Short")]])
    assert merged.title == "Short"


def test_hits_that_name_nothing_are_left_out() -> None:
    assert merge_hits([[Hit(url="")], []]) == ()


def test_groups_join_through_others() -> None:
    assert groups_of(["a", "b", "ab", "c"]) == [[0, 1, 2], [3]]
    assert groups_of([(), ()]) == [[0], [1]]
