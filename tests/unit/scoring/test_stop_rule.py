"""The stop rule, reason by reason, on small evidence written out by hand."""

import pytest
from signal_search.contracts.query import Tier
from signal_search.contracts.result import Stop, StopReason

from scoring.saturation import chao1_share, good_turing_share, saturation_of
from scoring.stop_rule import (
    Arrival,
    Continue,
    Evidence,
    QuestionEvidence,
    StopRules,
    coverage_of,
    decide,
)
from scoring.stop_texts import TEXTS

RULES = StopRules()
OPEN = QuestionEvidence(question_id="q1", pending=1)
CLOSED = QuestionEvidence(question_id="q1", sites=2, agreeing=2)
NEWS = Arrival(new=1)
SILENCE = Arrival(new=0)
FAILURE = Arrival(new=0, failed=True)


def reason(tier: Tier, **changes: object) -> StopReason | None:
    values = {"questions": (OPEN,), "outstanding": 1, "left": {"tokens": 10}, **changes}
    found = decide(Evidence(tier=tier, **values), RULES)  # type: ignore[arg-type]
    return found.reason if isinstance(found, Stop) else None


@pytest.mark.parametrize("tier", list(Tier))
def test_it_goes_on_while_something_is_open(tier: Tier) -> None:
    assert reason(tier, arrivals=(NEWS,)) is None


def test_one_source_ends_a_checkable_value_two_end_a_fact() -> None:
    one = (QuestionEvidence(question_id="q1", sites=1, agreeing=1),)
    assert reason(Tier.L0, questions=one) is StopReason.AGREEMENT
    assert reason(Tier.L1, questions=one) is None
    assert reason(Tier.L1, questions=(CLOSED,)) is StopReason.AGREEMENT


def test_two_sites_that_do_not_agree_are_no_agreement() -> None:
    split = (QuestionEvidence(question_id="q1", sites=2, agreeing=1),)
    assert reason(Tier.L1, questions=split) is None


@pytest.mark.parametrize(
    ("tier", "expected", "is_cut"),
    [
        (Tier.L0, StopReason.BUDGET_NARROW, False),
        (Tier.L1, StopReason.BUDGET_NARROW, False),
        (Tier.L2, StopReason.BUDGET_COVERAGE, True),
        (Tier.L3, StopReason.BUDGET_COVERAGE, True),
    ],
)
def test_budget_is_a_cut_for_coverage_tiers_only(
    tier: Tier, expected: StopReason, is_cut: bool
) -> None:
    found = decide(Evidence(tier=tier, questions=(OPEN,), left={"tokens": 0}, unmade=1), RULES)
    assert isinstance(found, Stop)
    assert (found.reason, found.exhausted) == (expected, is_cut)


@pytest.mark.parametrize(("tier", "is_cut"), [(Tier.L1, False), (Tier.L3, True)])
def test_deadline(tier: Tier, is_cut: bool) -> None:
    found = decide(Evidence(tier=tier, questions=(OPEN,), deadline_passed=True, unmade=1), RULES)
    assert isinstance(found, Stop)
    assert (found.reason, found.exhausted) == (StopReason.DEADLINE, is_cut)


def test_closed_checklist_goes_before_a_spent_budget() -> None:
    assert reason(Tier.L2, questions=(CLOSED,), left={"tokens": 0}) is StopReason.CHECKLIST_CLOSED


def test_contrary_question_is_closed_by_asking() -> None:
    pending = QuestionEvidence(question_id="q2", is_contrary=True, pending=1)
    asked = QuestionEvidence(question_id="q2", is_contrary=True)
    assert reason(Tier.L2, questions=(CLOSED, pending)) is None
    assert reason(Tier.L2, questions=(CLOSED, asked)) is StopReason.CHECKLIST_CLOSED


def test_coverage_is_the_share_of_closed_questions() -> None:
    one_site = QuestionEvidence(question_id="q2", sites=1)
    evidence = Evidence(tier=Tier.L2, questions=(CLOSED, one_site, OPEN, OPEN))
    assert coverage_of(evidence, RULES) == 0.25
    assert coverage_of(Evidence(tier=Tier.L1, questions=(CLOSED, one_site)), RULES) == 1.0
    assert coverage_of(Evidence(tier=Tier.L2), RULES) == 0.0


@pytest.mark.parametrize(("tier", "enough"), [(Tier.L1, 4), (Tier.L2, 12), (Tier.L3, 12)])
def test_quiet_arrivals_are_enough_and_failures_are_no_silence(tier: Tier, enough: int) -> None:
    assert reason(tier, arrivals=(NEWS, *[SILENCE] * enough)) is StopReason.NOTHING_NEW
    assert reason(tier, arrivals=(NEWS, *[SILENCE] * (enough - 1))) is None
    assert reason(tier, arrivals=(NEWS, *[SILENCE] * (enough - 1), FAILURE)) is None
    assert reason(tier, arrivals=(NEWS, *[FAILURE] * 99)) is None


def test_empty_first_answers_are_no_saturation() -> None:
    assert reason(Tier.L2, arrivals=tuple([SILENCE] * 9)) is None


def test_second_round_without_any_new_document() -> None:
    arrivals = (NEWS, Arrival(new=0, round=2))
    later = {"arrivals": arrivals, "rounds": 2, "unmade": 1}
    assert reason(Tier.L2, outstanding=0, **later) is StopReason.NOTHING_NEW
    assert reason(Tier.L2, outstanding=1, **later) is None
    failed = (NEWS, Arrival(new=0, round=2, failed=True))
    assert reason(Tier.L2, arrivals=failed, rounds=2, unmade=1, outstanding=0) is None
    unread = (NEWS, Arrival(new=0, fresh=1, round=2))
    assert reason(Tier.L2, arrivals=unread, rounds=2, unmade=1, outstanding=0) is None


def test_saturation_needs_two_sites_four_finds_and_silence() -> None:
    finds = (2, 2, 3, 2)
    silent = (NEWS, *[SILENCE] * 8)
    assert reason(Tier.L3, arrivals=silent, finds=finds, sites=3) is StopReason.SATURATED
    assert reason(Tier.L3, arrivals=silent, finds=finds, sites=1) is None
    assert reason(Tier.L3, arrivals=silent, finds=finds[:3], sites=3) is None
    assert reason(Tier.L3, arrivals=silent, finds=(1, 1, 1, 1), sites=4) is None
    assert reason(Tier.L3, arrivals=silent[:-1], finds=finds, sites=3) is None
    assert reason(Tier.L3, arrivals=(*silent, NEWS), finds=finds, sites=3) is None


def test_judge_closes_the_gap_or_spares_the_search() -> None:
    assert reason(Tier.L2, gap_closed=True) is StopReason.CHECKLIST_CLOSED
    assert reason(Tier.L1, judged_enough=True) is StopReason.NO_SEARCH_NEEDED
    assert reason(Tier.L3, needs_search=False) is StopReason.NO_SEARCH_NEEDED


def test_ends_of_the_plan_are_told_apart() -> None:
    over = {"outstanding": 0, "unmade": 0}
    assert reason(Tier.L2, arrivals=(FAILURE,), **over) is StopReason.NO_SOURCE_REACHED
    assert reason(Tier.L2, **over) is StopReason.NO_SOURCE_REACHED
    assert reason(Tier.L2, arrivals=(SILENCE,), **over) is StopReason.NO_EVIDENCE
    half = (QuestionEvidence(question_id="q1", sites=1),)
    assert reason(Tier.L2, arrivals=(NEWS,), questions=half, **over) is StopReason.PLAN_COMPLETE


def test_a_plan_that_ends_in_silence_has_dried_up() -> None:
    half = (QuestionEvidence(question_id="q1", sites=1),)
    over = {"outstanding": 0, "unmade": 0, "questions": half}
    assert reason(Tier.L2, arrivals=(NEWS, *[SILENCE] * 4), **over) is StopReason.NOTHING_NEW
    assert reason(Tier.L2, arrivals=(NEWS, *[SILENCE] * 3), **over) is StopReason.PLAN_COMPLETE


def test_cancelled_goes_first() -> None:
    assert reason(Tier.L1, cancelled=True, questions=(CLOSED,)) is StopReason.CANCELLED


def test_numbers_and_next_step_are_told() -> None:
    evidence = Evidence(
        tier=Tier.L2,
        questions=(CLOSED, QuestionEvidence(question_id="q2", pending=2)),
        finds=(2, 1, 1),
        left={"calls": 0},
        outstanding=2,
        unmade=3,
        rounds=2,
    )
    found = decide(evidence, RULES)
    assert isinstance(found, Stop)
    assert (found.coverage, found.rounds) == (0.5, 2)
    assert found.would_have == "wait for 2 open requests; make 3 more calls; answer q2"
    assert "3 finds, 4 sightings" in found.basis
    in_chinese = decide(evidence, RULES, "zh")
    assert isinstance(in_chinese, Stop)
    assert in_chinese.text == "预算截断，覆盖可能不完整"


def test_going_on_carries_the_numbers() -> None:
    found = decide(Evidence(tier=Tier.L2, questions=(CLOSED, OPEN), unmade=1), RULES)
    assert isinstance(found, Continue)
    assert found.coverage == 0.5


def test_every_reason_has_words_in_both_languages() -> None:
    assert set(TEXTS) == set(StopReason)
    assert all(each["zh"] and each["en"] and each["zh"] != each["en"] for each in TEXTS.values())


def test_estimates_by_hand() -> None:
    counts = (1, 1, 1, 2, 3)  # f1 = 3, f2 = 1: unseen = 3 * 2 / (2 * 2) = 1.5
    assert chao1_share(counts) == pytest.approx(5 / 6.5)
    assert good_turing_share(counts) == pytest.approx(1 - 3 / 8)
    assert saturation_of(counts).value == 0.625
    assert saturation_of(()).value == 0.0
    assert saturation_of((0, 0)).basis == "no finds"
