"""The bit-parallel length equals the table's on every input."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from scoring.claims.alignment import common_length, matched

WORDS = st.lists(st.sampled_from("abcd"), max_size=12)


def _by_definition(one: list[str], other: list[str]) -> int:
    if not one or not other:
        return 0
    if one[0] == other[0]:
        return 1 + _by_definition(one[1:], other[1:])
    return max(_by_definition(one[1:], other), _by_definition(one, other[1:]))


@given(st.lists(st.sampled_from("abc"), max_size=7), st.lists(st.sampled_from("abc"), max_size=7))
def test_length_is_that_of_the_definition(one: list[str], other: list[str]) -> None:
    assert common_length(one, other) == _by_definition(one, other)


@given(WORDS, WORDS)
def test_pairs_are_a_longest_common_subsequence(one: list[str], other: list[str]) -> None:
    pairs = matched(one, other)
    assert len(pairs) == common_length(one, other)
    assert all(one[i] == other[j] for i, j in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))


def test_the_closer_of_two_alignments_is_taken() -> None:
    # The first "the" stands far from the rest; the second one is next to it.
    assert matched(["the", "cat"], ["the", "dog", "saw", "the", "cat"]) == ((0, 3), (1, 4))
