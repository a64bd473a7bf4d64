"""Citation keys: readable, ASCII, unique, stable."""

import re

from hypothesis import given
from hypothesis import strategies as st
from signal_search.citations.keys import citation_keys
from signal_search.contracts.document import Author

from tests.fakes.results import CHINESE, PREPRINT, a_source


def test_a_key_is_family_year_and_first_word_of_weight() -> None:
    lonely = a_source(
        title="The état of the art",
        published="2020",
        authors=(Author(family="van Gödel", given="K"),),
    )
    assert citation_keys([PREPRINT, lonely]) == ("vaswani2017attention", "godel2020etat")


def test_a_page_without_author_is_named_after_its_site() -> None:
    assert citation_keys([a_source(site="www.sqlite.org")]) == ("sqlitewrite",)


def test_chinese_works_of_one_body_get_keys_of_their_own() -> None:
    other = a_source(
        title="2022年国民经济",
        site="stats.gov.cn",
        published="2024-02",
        authors=CHINESE.authors,
        url="https://www.stats.gov.cn/other",
    )
    first, second = citation_keys([CHINESE, other])
    assert re.fullmatch(r"stats2024[0-9a-f]{6}", first)
    assert re.fullmatch(r"stats2024[0-9a-f]{6}", second)
    assert first != second


def test_equal_keys_get_letters_in_order() -> None:
    assert citation_keys([a_source(n) for n in (1, 2, 3)]) == (
        "examplewritea",
        "examplewriteb",
        "examplewritec",
    )


def test_letters_go_on_after_z() -> None:
    keys = citation_keys([a_source(n) for n in range(1, 29)])
    assert keys[25:] == ("examplewritez", "examplewriteaa", "examplewriteab")


def test_a_letter_never_makes_a_key_that_is_taken() -> None:
    taken = a_source(9, title="writea")
    assert citation_keys([a_source(1), a_source(2), taken]) == (
        "examplewriteb",
        "examplewritec",
        "examplewritea",
    )


texts = st.text(max_size=12)


@given(
    st.lists(
        st.builds(
            lambda t, f, y: a_source(title=t, published=y, authors=(Author(family=f, given="x"),)),
            texts,
            texts,
            st.sampled_from(["", "2020", "1999-05"]),
        ),
        max_size=8,
    )
)
def test_keys_are_ascii_unique_and_the_same_again(sources: list) -> None:
    keys = citation_keys(sources)
    assert all(re.fullmatch(r"[a-z0-9]+", key) for key in keys)
    assert len(set(keys)) == len(sources)
    assert citation_keys(sources) == keys
