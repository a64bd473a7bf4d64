"""Closure: a dimension is closed by a word of its name in a source that has an address."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.closure import Anchor, is_closed, is_research_closed, open_dimensions, words_of


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("机制/原理", ("机制", "原理")),
        ("定义与概念", ("定义", "概念")),
        ("性能、成本和（安全）", ("性能", "成本", "安全")),
        ("Mechanism and principles", ("mechanism", "principles")),
        ("x", ()),
        ("", ()),
    ],
)
def test_the_words_of_a_name(name: str, words: tuple[str, ...]) -> None:
    assert words_of(name) == words


@pytest.mark.parametrize(
    ("url", "text", "closed"),
    [
        ("u", "工作原理如下", True),
        ("u", "价格", False),
        ("", "工作原理如下", False),
        ("u", "", False),
    ],
)
def test_one_word_in_an_anchored_source_closes(url: str, text: str, closed: bool) -> None:
    assert is_closed("机制/原理", [Anchor(url, text)]) is closed


def test_case_does_not_matter() -> None:
    assert is_closed("Present State", [Anchor("u", "The STATE of it")])


def test_every_dimension_is_needed_and_what_is_open_is_named_in_order() -> None:
    sources = [Anchor("a", "原理"), Anchor("b", "定义")]
    names = ["争议/局限", "机制/原理", "对比/异同", "定义与概念"]
    assert open_dimensions(names, sources) == ("争议/局限", "对比/异同")
    assert not is_research_closed(names, sources)
    assert is_research_closed(["机制/原理", "定义与概念"], sources)


def test_without_an_anchored_source_nothing_is_closed() -> None:
    assert not is_research_closed([], [])
    assert not is_research_closed([], [Anchor("", "原理")])


@given(
    st.lists(st.sampled_from(["机制/原理", "定义与概念", "争议/局限"])),
    st.lists(st.builds(Anchor, st.sampled_from(["", "u"]), st.sampled_from(["原理", "定义", "x"]))),
    st.builds(Anchor, st.just("v"), st.sampled_from(["局限", "y"])),
)
def test_one_source_more_never_opens_a_dimension(
    names: list[str], sources: list[Anchor], more: Anchor
) -> None:
    assert set(open_dimensions(names, [*sources, more])) <= set(open_dimensions(names, sources))
