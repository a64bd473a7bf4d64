"""One claim against one passage: what may be called TRUE or FALSE, and the reason when it may not."""

import pytest
from signal_search.contracts.finding import Verdict

from scoring.claims.entail import entails
from scoring.claims.features import compare
from scoring.claims.passage import Passage
from scoring.claims.rules import VerifyRules
from scoring.text import Sentence, sentences

RULES = VerifyRules()
TRUE, FALSE, UNCERTAIN = Verdict.TRUE, Verdict.FALSE, Verdict.UNCERTAIN


def _answer(claim: str, evidence: str) -> tuple[Verdict, str]:
    passages = [Passage(each) for each in sentences(evidence)]
    return entails(compare(Passage(Sentence(claim, 0, 0)), passages[0], passages[1:2]), RULES)


@pytest.mark.parametrize(
    ("claim", "evidence", "verdict", "reason"),
    [
        (
            "A neutrino is a fermion.",
            "A neutrino (denoted by the letter nu) is a fermion that interacts via gravity.",
            TRUE,
            "same_statement",
        ),
        (
            "In 1993 Johnson joined the Hornets.",
            "Johnson joined the Hornets in 1993.",
            TRUE,
            "same_statement",
        ),
        (
            "广茂铁路全长364.6公里。",
            "广茂铁路是中国广东省一条起自广州西站、止于茂名站的铁路，全长364.6公里，由三茂铁路公司管理。",
            TRUE,
            "same_statement",
        ),
        (
            "The reading room opened in 1855.",
            "The reading room opened in 1857.",
            FALSE,
            "number_conflict",
        ),
        (
            "The reading room closed in 1857.",
            "The reading room opened in 1857.",
            FALSE,
            "antonym_conflict",
        ),
        ("UDP is reliable.", "UDP is not reliable.", FALSE, "negation_conflict"),
        (
            "Glucose increases the cupric ions.",
            "Glucose reduces the cupric ions.",
            FALSE,
            "antonym_conflict",
        ),
        (
            "1995年，海山客运正式并入台北客运。",
            "1991年，海山客运正式并入台北客运。",
            FALSE,
            "number_conflict",
        ),
        ("珠峰不是世界最高峰。", "珠峰是世界最高峰。", FALSE, "negation_conflict"),
        ("公司去年的收入下降了。", "公司去年的收入上升了。", FALSE, "antonym_conflict"),
        # Who did what to whom: bags of words cannot tell.
        (
            "MicroAge wanted Intel to favor Intel chips.",
            "Intel wanted MicroAge to favor Intel chips.",
            UNCERTAIN,
            "name_out_of_place",
        ),
        (
            "Medina was the destination of the Hijrah.",
            "Mecca was the destination of the Hijrah from Medina.",
            UNCERTAIN,
            "name_out_of_place",
        ),
        (
            "Paul Landowski made the bridge.",
            "Paul Landowski made the statue.",
            UNCERTAIN,
            "word_unmatched",
        ),
        ("李伟是一名著名的电影演员。", "王伟是一名著名的电影演员。", UNCERTAIN, "word_replaced"),
        # Two things differ: another year's figure, not an error.
        (
            "Sales of the whole northern group in 2020 were 6 million euros.",
            "Sales of the whole northern group in 2019 were 5 million euros.",
            UNCERTAIN,
            "number_conflict",
        ),
        (
            "Johansson married Reynolds in 2010.",
            "Johansson met Reynolds in 2007; they married in 2008 and separated in 2010.",
            UNCERTAIN,
            "word_unmatched",
        ),
        ("The tower is 330 m tall.", "The tower may be 330 m tall.", UNCERTAIN, "modality_differs"),
        (
            "The moon is made of cheese.",
            "The moon is made of cheese. This is a common myth.",
            UNCERTAIN,
            "debunked",
        ),
        ("5G传播病毒。", "网传5G传播病毒。", UNCERTAIN, "debunked"),
        ("Is the tower tall?", "The tower is tall.", UNCERTAIN, "question"),
        (
            "All of the miners voted yes.",
            "The miners voted yes.",
            UNCERTAIN,
            "exclusive_unsupported",
        ),
        (
            "Pompeii is in Italy.",
            "Pompeii was buried long ago, as visitors of the many sites in the whole of Italy know.",
            UNCERTAIN,
            "scattered",
        ),
        (
            "C# is a programming language.",
            "C is a programming language.",
            UNCERTAIN,
            "name_out_of_place",
        ),
        ("The weather was nice.", "The dose was 5 mg.", UNCERTAIN, "weak_anchor"),
    ],
)
def test_rules(claim: str, evidence: str, verdict: Verdict, reason: str) -> None:
    assert _answer(claim, evidence) == (verdict, reason)


def test_two_changes_that_cancel_are_not_called_false() -> None:
    assert _answer("Prices are not higher now.", "Prices are lower now.")[0] is UNCERTAIN


def test_a_negation_in_another_clause_does_not_count() -> None:
    evidence = "他不喜欢旅行，约翰逊1993年加入黄蜂队，没有再离开。"
    assert _answer("约翰逊1993年加入黄蜂队。", evidence)[0] is TRUE
