"""Reciprocal rank fusion."""

import pytest

from scoring.fusion import Fused, fuse


def test_ranks_of_all_lists_add_up() -> None:
    assert fuse([["a", "b"], ["b", "c"]]) == [
        Fused("b", pytest.approx(1 / 62 + 1 / 61), 1),
        Fused("a", pytest.approx(1 / 61), 1),
        Fused("c", pytest.approx(1 / 62), 2),
    ]


def test_a_key_counts_once_for_a_list() -> None:
    assert fuse([["a", "a", "b", "a"]]) == [Fused("a", 1 / 61, 1), Fused("b", 1 / 62, 2)]


def test_ties_go_by_best_rank_then_by_key() -> None:
    assert [each.key for each in fuse([["b"], ["a"]])] == ["a", "b"]
    assert [each.key for each in fuse([["x", "b"], ["a", "x"]], k=0)] == ["x", "a", "b"]


def test_nothing() -> None:
    assert fuse([]) == fuse([[], []]) == []
