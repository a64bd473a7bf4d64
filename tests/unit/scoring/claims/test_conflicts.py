"""Disagreements between sites, found without asking for each pair of sentences."""

from signal_search.contracts.document import Document

from scoring.claims.conflicts import Disagreement, find_disagreements
from scoring.claims.evidence import prepare
from scoring.claims.rules import VerifyRules


def _found(*texts: tuple[str, str], most: int = 20) -> tuple[Disagreement, ...]:
    documents = [
        Document(
            doc_id=str(place),
            url=f"https://{site}/{place}",
            title="",
            text=text,
            source_id="s",
            site=site,
            fetched_at_ms=0,
        )
        for place, (site, text) in enumerate(texts)
    ]
    return find_disagreements(prepare(documents), VerifyRules(), most=most)


def test_a_number_that_differs() -> None:
    (found,) = _found(
        ("a.example", "Welcome. The Ansel tunnel is 57 kilometres long and carries trains."),
        (
            "b.example",
            "Trains run daily. The Ansel tunnel is 53 kilometres long and carries trains.",
        ),
    )
    assert (found.kind, found.topic) == ("number", "Ansel tunnel kilometres long carries trains")
    assert found.first.quote == "The Ansel tunnel is 57 kilometres long and carries trains."
    assert (found.second.doc_id, found.second.start) == ("1", len("Trains run daily. "))


def test_a_negation_and_an_opposite() -> None:
    kinds = [
        found.kind
        for found in _found(
            ("a.example", "The protocol is reliable on long links. 公司去年的总收入下降了。"),
            ("b.example", "The protocol is not reliable on long links. 公司去年的总收入上升了。"),
        )
    ]
    assert kinds == ["negation", "antonym"]


def test_one_site_does_not_disagree_with_itself_and_agreement_is_none() -> None:
    one, other = (
        "The Ansel tunnel is 57 kilometres long.",
        "The Ansel tunnel is 53 kilometres long.",
    )
    assert _found(("a.example", one), ("a.example", other)) == ()
    assert _found(("a.example", one), ("b.example", one)) == ()


def test_two_years_figures_are_not_a_conflict() -> None:
    assert (
        _found(
            ("a.example", "Sales of the northern group in 2020 were 6 million euros."),
            ("b.example", "Sales of the northern group in 2019 were 5 million euros."),
        )
        == ()
    )


def test_no_more_than_asked() -> None:
    one = " ".join(
        f"The {name} tunnel is 57 kilometres long." for name in ("Ansel", "Borel", "Corin")
    )
    assert len(_found(("a.example", one), ("b.example", one.replace("57", "53")), most=2)) == 2
