"""Counting: UNCERTAIN is no support."""

from signal_search.contracts.finding import Claim, Span, Verdict

from scoring.claims.faithfulness import faithfulness_of, uncertainties


def _claim(verdict: Verdict, **more: object) -> Claim:
    return Claim(text=f"it is {verdict}", verdict=verdict, reason="r", **more)  # type: ignore[arg-type]


def test_share_is_true_of_all() -> None:
    found = faithfulness_of(
        [_claim(Verdict(each)) for each in ("TRUE", "UNCERTAIN", "FALSE", "TRUE", "UNCERTAIN")]
    )
    assert (found.true, found.false, found.uncertain, found.total, found.share) == (2, 1, 2, 5, 0.4)


def test_no_claims_have_no_share() -> None:
    assert faithfulness_of([]).share is None


def test_uncertainties_name_the_source_that_disagrees() -> None:
    span = Span(doc_id="b", url="https://b.example/", start=0, end=1, quote="x")
    open_claims = [
        _claim(Verdict.UNCERTAIN),
        _claim(Verdict.TRUE),
        _claim(Verdict.UNCERTAIN, contradicting=(span,)),
    ]
    assert [(each.text, each.reason, each.url) for each in uncertainties(open_claims)] == [
        ("it is UNCERTAIN", "r", ""),
        ("it is UNCERTAIN", "r", "https://b.example/"),
    ]
