"""Addresses: the form that is fetched (WHATWG) and the key that says "the same page". Cases written for this project."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.addresses import address_key
from scoring.identity import work_keys
from tests.fakes.builders import a_document
from workers.fetching.url_guard import canonical

# What browsers make of it (WHATWG URL, serialised without fragment), worked out by hand from the standard.
FETCHED = [
    ("HTTP://EXAMPLE.com", "http://example.com/"),
    ("http://example.com:80/", "http://example.com/"),
    ("https://example.com:443/a", "https://example.com/a"),
    ("http://example.com:443/", "http://example.com:443/"),
    ("http://example.com/a/./b/../c", "http://example.com/a/c"),
    ("http://example.com/a/%2e%2e/b", "http://example.com/b"),
    ("http://example.com/a b", "http://example.com/a%20b"),
    ("http://example.com/ä?q=ü", "http://example.com/%C3%A4?q=%C3%BC"),
    ("http://münchen.example/", "http://xn--mnchen-3ya.example/"),
    ("http://例え.テスト/", "http://xn--r8jz45g.xn--zckzah/"),
    ("http://example.com/a#part", "http://example.com/a"),
    ("http://example.com\\a\\b", "http://example.com/a/b"),
    ("http://0x7f.1/", "http://127.0.0.1/"),
    ("http://2130706433/", "http://127.0.0.1/"),
    ("http://[::FFFF:1.2.3.4]/", "http://[::ffff:102:304]/"),
    ("  http://example.com/  ", "http://example.com/"),
    ("http://exa\tmple.com/\n", "http://example.com/"),
    # what must stay as it was written
    ("http://example.com/Dia%25", "http://example.com/Dia%25"),
    ("http://example.com/index.php?/a/=/o/", "http://example.com/index.php?/a/=/o/"),
    ("http://example.com/?variable", "http://example.com/?variable"),
    ("http://example.com/?b=1&a=2&a=1", "http://example.com/?b=1&a=2&a=1"),
    ("http://example.com/a//b", "http://example.com/a//b"),
    ("http://example.com/%7Ejoe", "http://example.com/%7Ejoe"),
    ("http://example.com/%2F", "http://example.com/%2F"),
]

SAME = [
    ("http://Example.com/a", "http://example.com/a"),
    ("http://example.com:80/a", "http://example.com/a"),
    ("https://example.com.:443/a", "https://example.com/a"),
    ("http://example.com", "http://example.com/"),
    ("http://example.com/a#s2", "http://example.com/a"),
    ("http://example.com/a?", "http://example.com/a"),
    ("http://example.com/a?&b=1&", "http://example.com/a?b=1"),
    ("http://example.com/x/../a", "http://example.com/a"),
    ("http://example.com/%7Ejoe", "http://example.com/~joe"),
    ("http://example.com/%e4%b8%ad", "http://example.com/中"),
    ("http://example.com/a%2fb", "http://example.com/a%2Fb"),
    ("http://example.com/?b=2&a=1", "http://example.com/?a=1&b=2"),
    ("http://example.com/a?utm_source=x&utm_medium=y&id=7", "http://example.com/a?id=7"),
    ("http://example.com/a?UTM_Campaign=x", "http://example.com/a"),
    ("http://example.com/a?gclid=1&fbclid=2&msclkid=3&yclid=4&twclid=5", "http://example.com/a"),
    ("http://example.com/a?mtm_campaign=1&mc_eid=2&mc_cid=3&_ga=4&_gl=5", "http://example.com/a"),
    ("http://example.com/a?igshid=1&spm=a2.b3&srsltid=z&dclid=q", "http://example.com/a"),
    ("http://example.com/a;jsessionid=0A1B?x=1", "http://example.com/a?x=1"),
    ("http://example.com/a?PHPSESSID=77&x=1", "http://example.com/a?x=1"),
    ("http://münchen.example/", "http://xn--mnchen-3ya.example/"),
    ("https://doi.org/10.1000/ABC", "http://dx.doi.org/10.1000/abc"),
    (
        "https://doi.org/10.1002/(SICI)1097-4571(199806)49:8%3C693::AID-ASI4%3E3.0.CO;2-O",
        "https://doi.org/10.1002/(sici)1097-4571(199806)49:8<693::aid-asi4>3.0.co;2-o",
    ),
    ("https://arxiv.org/abs/2401.12345v2", "https://arxiv.org/pdf/2401.12345.pdf"),
    ("http://export.arxiv.org/abs/2401.12345", "https://ar5iv.labs.arxiv.org/html/2401.12345v1"),
    ("https://doi.org/10.48550/arXiv.2401.12345", "https://www.arxiv.org/abs/2401.12345v3"),
    ("https://arxiv.org/abs/hep-th/9901001", "https://arxiv.org/pdf/hep-th/9901001v2"),
]

DIFFERENT = [
    ("http://example.com/a", "https://example.com/a"),
    ("http://example.com/a", "http://www.example.com/a"),
    ("http://example.com/a", "http://example.com/a/"),
    ("http://example.com/a", "http://example.com/A"),
    ("http://example.com/a", "http://example.com:8080/a"),
    ("http://example.com/a//b", "http://example.com/a/b"),
    ("http://example.com/a%2Fb", "http://example.com/a/b"),
    ("http://example.com/?a=1&a=2", "http://example.com/?a=2&a=1"),
    ("http://example.com/?q=a%2Bb", "http://example.com/?q=a+b"),
    ("http://example.com/a?ref=x", "http://example.com/a"),
    ("http://example.com/watch?v=1", "http://example.com/watch?v=2"),
    ("http://example.com/a?id=1", "http://example.com/a?id=2"),
    ("http://example.com/#!/one", "http://example.com/#!/two"),
    ("http://example.com/a?mc=1", "http://example.com/a"),
    ("http://example.com/a?x", "http://example.com/a?x="),
    ("https://arxiv.org/abs/2401.12345", "https://arxiv.org/abs/2401.12346"),
    ("https://arxiv.org/list/cs.AI/recent", "https://arxiv.org/list/cs.CL/recent"),
    ("https://doi.org/10.1000/abc", "https://doi.org/10.1000/abd"),
]


@pytest.mark.parametrize(("written", "fetched"), FETCHED)
def test_the_form_that_is_fetched(written: str, fetched: str) -> None:
    assert canonical(written) == fetched
    assert canonical(fetched) == fetched


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_page(one: str, other: str) -> None:
    assert address_key(one) == address_key(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_pages(one: str, other: str) -> None:
    assert address_key(one) != address_key(other)


@pytest.mark.parametrize("url", [each for pair in (*SAME, *DIFFERENT) for each in pair])
def test_a_key_is_its_own_key(url: str) -> None:
    assert address_key(address_key(url)) == address_key(url)


_PARTS = st.sampled_from(
    [
        "a",
        "/",
        "%7e",
        "%2F",
        "?",
        "&",
        "=",
        "utm_source=1",
        "#",
        "#!x",
        ";jsessionid=1",
        "..",
        "ü",
        "%",
        " ",
        "b=1",
    ]
)


@given(st.lists(_PARTS, max_size=10).map("".join))
def test_any_key_is_its_own_key(rest: str) -> None:
    key = address_key(f"http://example.com/{rest}")
    assert address_key(key) == key


def test_a_work_by_its_address_is_the_work_by_its_id() -> None:
    page = a_document(url="https://doi.org/10.1000/ABC")
    record = a_document(url="https://api.example/works/1", doi="https://doi.org/10.1000/abc.")
    assert work_keys(page) & work_keys(record) == {"doi:10.1000/abc"}
    preprint = a_document(url="https://export.arxiv.org/pdf/2401.12345v2")
    assert work_keys(preprint) == {"arxiv:2401.12345"}


def test_nonsense_is_its_own_key() -> None:
    assert [address_key(each) for each in ("", "nonsense", "mailto:a", "http://")] == [
        "",
        "nonsense",
        "mailto:a",
        "http://",
    ]
