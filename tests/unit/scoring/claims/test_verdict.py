"""A claim against several documents: who states it, who contradicts it, and who counts as independent."""

from signal_search.contracts.document import Document
from signal_search.contracts.finding import Claim, Verdict

from scoring.claims.rules import VerifyRules
from scoring.claims.verdict import verify, verify_all

RULES = VerifyRules()
HEIGHT = "Mount Ansel is 4,210 metres high."


def _document(doc_id: str, text: str, site: str = "") -> Document:
    site = site or f"{doc_id}.example"
    return Document(
        doc_id=doc_id,
        url=f"https://{site}/{doc_id}",
        title="",
        text=text,
        source_id="s",
        site=site,
        fetched_at_ms=0,
    )


def _verdict(claim: str, *documents: Document, own: str = "a") -> Claim:
    return verify(claim, documents, own_doc_ids={own}, rules=RULES)


def test_a_sentence_of_its_own_source_is_true() -> None:
    claim = _verdict(
        HEIGHT, _document("a", f"A mountain of granite. {HEIGHT} It was climbed early.")
    )
    assert (claim.verdict, claim.reason, claim.independent) == (
        Verdict.TRUE,
        "verbatim_in_source",
        0,
    )
    assert [span.quote for span in claim.supporting] == [HEIGHT]


def test_spans_are_byte_exact() -> None:
    text = "Größe – eine Übersicht。珠峰海拔8848.86米。It ends."
    document = _document("a", text)
    (span,) = _verdict("珠峰海拔8848.86米。", document).supporting
    assert text.encode()[span.start : span.end].decode() == span.quote == "珠峰海拔8848.86米。"
    assert (span.doc_id, span.url) == (document.doc_id, document.url)


def test_a_claim_of_two_sentences_has_one_span_over_both() -> None:
    claim = _verdict(
        "It rose fast. It fell slowly.",
        _document("a", "First. It rose fast.  It fell slowly. Last."),
    )
    assert claim.verdict is Verdict.TRUE
    assert [span.quote for span in claim.supporting] == ["It rose fast.  It fell slowly."]


def test_other_sites_count_once_each() -> None:
    other = "The guide says more. Mount Ansel is 4,210 metres high."
    claim = _verdict(
        HEIGHT,
        _document("a", HEIGHT),
        _document("b", other, "b.example"),
        _document("c", f"{other} And so on, and so forth.", "b.example"),
        _document(
            "d", "Of the peaks, Mount Ansel is 4,210 metres high. Snow lies there.", "d.example"
        ),
        _document(
            "e",
            "Another page of the first site. Mount Ansel is 4,210 metres high. New text.",
            "a.example",
        ),
    )
    assert (claim.verdict, claim.independent) == (Verdict.TRUE, 2)
    assert len(claim.supporting) == 5


def test_near_copies_count_once() -> None:
    report = "The agency reports today. Mount Ansel is 4,210 metres high. A team measured it. It used lasers."
    copies = [_document(name, f"{report} Copyright {name}.") for name in "bcd"]
    assert (
        _verdict(HEIGHT, _document("a", f"{HEIGHT} We say so. Ours alone."), *copies).independent
        == 1
    )
    # A copy of the claim's own source is no witness at all.
    assert _verdict(HEIGHT, _document("a", report), *copies).independent == 0


def test_contradicted_elsewhere_is_uncertain_with_both_spans() -> None:
    claim = _verdict(
        HEIGHT, _document("a", HEIGHT), _document("b", "Mount Ansel is 4,012 metres high.")
    )
    assert (claim.verdict, claim.reason) == (Verdict.UNCERTAIN, "contradicted_elsewhere")
    assert [span.doc_id for span in claim.supporting] == ["a"]
    assert [span.quote for span in claim.contradicting] == ["Mount Ansel is 4,012 metres high."]


def test_a_contradiction_within_one_site_does_not_undo_it() -> None:
    old = _document("b", "Mount Ansel is 4,012 metres high.", "a.example")
    claim = _verdict(HEIGHT, _document("a", HEIGHT), old)
    assert claim.verdict is Verdict.TRUE
    assert [span.doc_id for span in claim.contradicting] == ["b"]


def test_false_needs_a_contradiction_and_no_support() -> None:
    claim = _verdict(HEIGHT, _document("b", "Mount Ansel is 4,012 metres high."))
    assert (claim.verdict, claim.reason, claim.supporting) == (Verdict.FALSE, "number_conflict", ())


def test_documents_about_something_else_say_nothing() -> None:
    claim = _verdict(HEIGHT, _document("a", "The dose was 5 mg a day."), _document("b", ""))
    assert (claim.verdict, claim.reason) == (Verdict.UNCERTAIN, "no_source")
    assert _verdict("……", _document("a", HEIGHT)).reason == "no_words"


def test_the_reason_of_the_nearest_sentence_is_given() -> None:
    claim = _verdict(HEIGHT, _document("b", "Mount Ansel may be 4,210 metres high."))
    assert (claim.verdict, claim.reason) == (Verdict.UNCERTAIN, "modality_differs")


def test_own_documents_come_first_whatever_their_order() -> None:
    one, two = _document("a", HEIGHT), _document("b", f"{HEIGHT} Indeed.")
    assert [span.doc_id for span in _verdict(HEIGHT, two, one).supporting] == ["a", "b"]


def test_no_more_claims_than_the_rules_allow() -> None:
    rules = VerifyRules(max_claims=2)
    found = verify_all(
        [HEIGHT, "Two is two.", "Three is three."],
        [_document("a", HEIGHT)],
        own_doc_ids=set(),
        rules=rules,
    )
    assert [each.text for each in found] == [HEIGHT, "Two is two."]
    assert found[0].reason == "verbatim"
