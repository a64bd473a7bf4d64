"""Which documents are one, and in which order the rest comes."""

import pytest
from msgspec import structs
from signal_search.contracts.document import Document
from signal_search.contracts.query import Intent, SourcePrefs

from scoring.copies import (
    containment,
    copy_groups,
    hamming,
    independent_sites,
    shingles,
    simhash,
    unique,
)
from scoring.identity import document_id, normal_arxiv, normal_doi, site_of, work_keys
from scoring.rank import is_opposing, rank
from scoring.relevance import corpus_of, variants_of, words_of
from scoring.sba import Asked, SbaRules
from scoring.text import tokens
from tests.fakes.builders import a_document

LONG = (
    "The harbour at Norvik was rebuilt after the flood of 1911 with granite from two nearby quarries. "
    "Engineers raised the quay by three metres and moved the customs house inland. "
    "Trade returned within four years, mostly timber, dried fish and iron ore from the northern mines. "
    "A lighthouse followed in 1919, lit first by oil and later by electricity from the river plant. "
    "Today the old basin holds small craft while container ships use the deep terminal outside the bay."
)
OTHER = "Beetroot grows best in loose soil, needs regular water and is pulled about ten weeks after sowing."


def a_page(name: str, text: str, **changes: str) -> Document:
    return a_document(
        doc_id=name, url=f"https://{name}.example/", site=f"{name}.example", text=text, **changes
    )


@pytest.mark.parametrize(
    ("raw", "normal"),
    [
        ("https://doi.org/10.1038/S41586", "10.1038/s41586"),
        ("doi: 10.1/X ", "10.1/x"),
        ("http://dx.doi.org/10.1/x", "10.1/x"),
    ],
)
def test_doi_normal_form(raw: str, normal: str) -> None:
    assert normal_doi(raw) == normal


@pytest.mark.parametrize(
    ("raw", "normal"),
    [
        ("arXiv:2401.12345v2", "2401.12345"),
        ("https://arxiv.org/pdf/2401.12345v3.pdf", "2401.12345"),
        ("hep-th/9901001v1", "hep-th/9901001"),
        ("2401.12345", "2401.12345"),
    ],
)
def test_arxiv_normal_form(raw: str, normal: str) -> None:
    assert normal_arxiv(raw) == normal


def test_document_id_is_of_url_and_text_apart() -> None:
    assert document_id("ab", "c") != document_id("a", "bc")
    assert document_id("ab", "c") == document_id("ab", "c")
    assert len(document_id("", "")) == 32


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://news.example.co.uk/x", "example.co.uk"),
        ("http://127.0.0.1:8000/", "127.0.0.1:8000"),
        ("docs.example.org", "example.org"),
        ("http://localhost/", "localhost"),
    ],
)
def test_site(url: str, site: str) -> None:
    assert site_of(url) == site


def test_arxiv_doi_and_arxiv_id_are_one_work() -> None:
    by_doi = a_document(url="https://a.example/", doi="10.48550/arXiv.2401.12345")
    by_id = a_document(url="https://b.example/", arxiv_id="2401.12345v2")
    assert work_keys(by_doi) & work_keys(by_id) == {"arxiv:2401.12345"}


def test_containment_by_hand() -> None:
    five, six = shingles(["a", "b", "c", "d", "e"]), shingles(["a", "b", "c", "d", "e", "f"])
    assert containment(five, six) == 1.0  # abcd bcde are both in
    assert containment(shingles(["a", "b", "c", "d", "x"]), six) == 0.5
    assert containment(frozenset(), six) == 0.0


def test_excerpt_and_copy_are_one_group() -> None:
    first, copy, excerpt, other = (
        a_page("a", LONG),
        a_page("b", LONG),
        a_page("c", LONG[:300]),
        a_page("d", OTHER),
    )
    assert copy_groups([first, copy, excerpt, other]) == (0, 0, 0, 3)
    assert unique([first, copy, excerpt, other]) == (first, other)


def test_words_in_another_order_are_a_copy_when_there_are_many() -> None:
    text = f"{LONG} {OTHER}"
    turned = " ".join(reversed(text.split()))
    assert containment(shingles(tokens(text)), shingles(tokens(turned))) < 0.1
    assert hamming(simhash(text), simhash(turned)) == 0
    assert copy_groups([a_page("a", text), a_page("b", turned)]) == (0, 0)
    few, turned_few = a_page("a", "one two three four five"), a_page("b", "five four three two one")
    assert copy_groups([few, turned_few]) == (0, 1)


def test_short_texts_that_differ_in_a_figure_are_two() -> None:
    five, six = a_page("a", "The dose was 5 mg."), a_page("b", "The dose was 6 mg.")
    assert copy_groups([five, six]) == (0, 1)


def test_empty_texts_are_no_copies_of_each_other() -> None:
    assert copy_groups([a_page("a", ""), a_page("b", ""), a_page("c", "")]) == (0, 1, 2)


def test_two_dois_are_two_works_even_with_one_abstract() -> None:
    first, second = a_page("a", LONG, doi="10.1/a"), a_page("b", LONG, doi="10.1/b")
    assert copy_groups([first, second]) == (0, 1)


def test_sites_are_counted_once_and_copies_too() -> None:
    pages = [
        a_document(doc_id="1", url="https://a.example/1", site="a.example", text=LONG),
        a_document(doc_id="2", url="https://a.example/2", site="a.example", text=OTHER),
        a_document(doc_id="3", url="https://b.example/1", site="b.example", text=LONG),
        a_document(
            doc_id="4",
            url="https://c.example/1",
            site="c.example",
            text="A view of its own on the harbour.",
        ),
    ]
    assert independent_sites(pages) == 2


# --- rank -------------------------------------------------------------------------------------------------------------

RULES = SbaRules(
    weights={
        "credibility": 0.35,
        "relevance": 0.30,
        "recency": 0.15,
        "authority": 0.15,
        "bias": 0.05,
    },
    credibility={"gov": 0.95, "forum": 0.4},
    bias={"gov": 0.1, "forum": 0.6},
    half_life_days={"fact": 1460.0},
)


def asked(question: str, **prefs: tuple[str, ...]) -> Asked:
    return Asked(
        variants=variants_of(question),
        intent=Intent.FACT,
        now_ms=1_790_000_000_000,
        prefs=SourcePrefs(**prefs),
    )


def test_irrelevant_documents_are_left_out_however_credible() -> None:
    on_topic = a_page("forum", "Norvik harbour was rebuilt in 1911.", source_type="forum")
    off_topic = a_page("office", OTHER, source_type="gov")
    found = rank([off_topic, on_topic], asked("Norvik harbour rebuilt"), RULES)
    assert [each.document.doc_id for each in found.kept] == ["forum"]
    assert found.irrelevant == ("office",)


def test_weight_orders_and_url_breaks_ties() -> None:
    texts = ["Norvik harbour plan one.", "Norvik harbour plan two.", "Norvik harbour plan three."]
    kinds = ["forum", "gov", "forum"]
    pages = [
        a_page(name, text, source_type=kind)
        for name, text, kind in zip("cba", texts, kinds, strict=True)
    ]
    question = asked("Norvik harbour")
    forwards = [each.document.doc_id for each in rank(pages, question, RULES).kept]
    backwards = [each.document.doc_id for each in rank(pages[::-1], question, RULES).kept]
    assert forwards == backwards == ["b", "a", "c"]


def test_statistics_of_the_whole_job_may_be_given() -> None:
    pages = [a_page("a", "Norvik harbour plan."), a_page("b", OTHER)]
    corpus = corpus_of([words_of(each) for each in pages])
    question = structs.replace(asked("Norvik beetroot"), corpus=corpus)
    assert rank(pages[:1], question, RULES).kept[0].score.relevance.value == 0.5


def test_blocked_sources_and_copies_are_reported() -> None:
    pages = [a_page("a", LONG), a_page("b", LONG), a_page("c", LONG + " More.")]
    found = rank(pages, asked("Norvik harbour", block=("c.example",)), RULES)
    assert [each.document.doc_id for each in found.kept] == ["a"]
    assert (found.blocked, found.copies) == (("c",), ("b",))


@pytest.mark.parametrize(
    ("weights", "is_label_due"),
    [((1.0, 0.4), True), ((1.0, 0.6), False), ((0.5,), False), ((), False)],
)
def test_opposing_view(weights: tuple[float, ...], is_label_due: bool) -> None:
    assert is_opposing(weights, 0.6) is is_label_due
