"""A DOI belongs to a work when its registered title and authors are the work's."""

import pytest

from scoring.claims.code import code_in
from scoring.doi_match import is_same_work, plain_doi


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10.1000/182", "10.1000/182"),
        ("https://doi.org/10.1000/ABC.def", "10.1000/abc.def"),
        ("doi: 10.5555/12345678", "10.5555/12345678"),
        ("10.1000/182 and more", ""),
        ("10.1/x", ""),
        ("https://evil.example/10.1000/182", ""),
        ("", ""),
        ('10.1000/1"><script>', ""),
    ],
)
def test_only_a_doi_is_one(text: str, expected: str):
    assert plain_doi(text) == expected


def test_title_and_authors_must_agree():
    ours = ("Attention Is All You Need", ["Vaswani", "Shazeer", "Parmar"])
    assert is_same_work(*ours, "Attention is all you need.", ["Vaswani", "Shazeer", "Parmar"])
    assert is_same_work(*ours, "ATTENTION IS ALL YOU NEED", ["vaswani", "SHAZEER"])
    assert not is_same_work(*ours, "Attention is all you want", ["Vaswani", "Shazeer", "Parmar"])
    assert not is_same_work(*ours, "Attention is all you need", ["Smith"])
    assert not is_same_work(*ours, "Attention is all you need", [])
    assert not is_same_work("", ["Vaswani"], "", ["Vaswani"])
    assert not is_same_work("!!!", ["Vaswani"], "???", ["Vaswani"])


def test_accents_and_scripts_are_folded_not_dropped():
    assert is_same_work("Über Größe", ["Gödel"], "Uber Größe", ["Godel"])
    assert is_same_work("深度学习综述", ["李"], "深度学习综述", ["李"])
    assert not is_same_work("深度学习综述", ["李"], "深度学习", ["李"])


@pytest.mark.parametrize(
    ("claim", "code"),
    [
        ("`sorted([3, 1])` returns [1, 3].", "sorted([3, 1])"),
        ("Calling len('abc') returns 3 in every version.", "len('abc')"),
        ("The command $ echo hi prints hi.", "echo hi prints hi."),
        ("函数 f(2) 返回 4。", "f(2)"),
        ("The library sorts lists quickly.", ""),
        ("`sorted` is a built-in function.", ""),
        ("Mount Ansel (2,114 m) returns in the story.", ""),
    ],
)
def test_code_is_found_where_a_claim_says_what_it_does(claim: str, code: str):
    assert code_in(claim) == code
