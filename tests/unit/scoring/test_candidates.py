"""Which records are one paper, and what the paper has of each."""

from scoring.candidates import Candidate, merge, title_key


def record(title: str = "t", *, source: str = "", **fields: object) -> Candidate:
    return Candidate(title=title, sources=(source,) if source else (), **fields)  # type: ignore[arg-type]


def test_ids_in_common_are_one_paper_through_a_chain() -> None:
    merged = merge(
        [
            record("a", doi="10.1/X", source="one"),
            record("b", arxiv_id="2101.00001v1", source="two"),
            record("other", source="three"),
            record("c", doi=" 10.1/x ", arxiv_id="2101.00001v3", source="three"),
        ]
    )
    assert [each.title for each in merged] == ["a", "other"]
    assert merged[0].sources == ("one", "two", "three")
    assert (merged[0].doi, merged[0].arxiv_id) == ("10.1/X", "2101.00001v1")


def test_a_doi_of_arxiv_is_the_arxiv_id() -> None:
    assert (
        len(merge([record(doi="10.48550/arXiv.2101.00001"), record(arxiv_id="2101.00001v2")])) == 1
    )


def test_old_arxiv_ids_keep_their_letters() -> None:
    """An id may have a v in its archive; only a version at the end is none of it."""
    found = merge(
        [
            record("a", arxiv_id="solv-int/9901001v2"),
            record("b", arxiv_id="solv-int/9901001"),
            record("c", arxiv_id="sol"),
        ]
    )
    assert [each.title for each in found] == ["a", "c"]


def test_titles_join_records_without_ids_only() -> None:
    titled = record("Surface Code: Thresholds")
    assert len(merge([titled, record("surface code  thresholds")])) == 1
    assert len(merge([titled, record("Surface code thresholds", doi="10.1/a")])) == 2
    assert len(merge([record(doi="10.1/a"), record(doi="10.1/b")])) == 2


def test_titles_without_latin_letters_are_told_apart() -> None:
    assert len(merge([record("量子纠错"), record("量子计算"), record("量子纠错")])) == 2
    assert len(merge([record("量子 2023"), record("拓扑 2023")])) == 2
    assert len(merge([record(""), record(""), record("?")])) == 3
    assert title_key("Surface-code_1!") == "surface code 1"


def test_the_first_record_wins_and_gaps_are_filled() -> None:
    (found,) = merge(
        [
            record(
                "first", doi="10.1/a", citations=-1, year=0, raw_rank=4, authors=("A",), venue=" "
            ),
            record(
                "second",
                doi="10.1/a",
                abstract="text",
                citations=7,
                year=2020,
                raw_rank=2,
                authors=("A", "B"),
                venue="V",
            ),
            record(
                "third",
                doi="10.1/a",
                abstract="more",
                citations=9,
                year=2021,
                url="u",
                authors=("C", "D"),
                raw_score=0.5,
            ),
        ]
    )
    assert found == Candidate(
        title="first", doi="10.1/a", abstract="text", citations=9, year=2020, raw_rank=2, authors=("A", "B"), venue="V",
        url="u", raw_score=0.5,
    )  # fmt: skip


def test_a_reported_zero_stays() -> None:
    (found,) = merge([record(doi="10.1/a", citations=None), record(doi="10.1/a", citations=0)])
    assert found.citations == 0


def test_sources_are_distinct_and_named() -> None:
    (found,) = merge([Candidate(title="x", sources=("a", " a ", "", "b"))])
    assert found.sources == ("a", "b")
