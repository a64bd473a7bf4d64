"""The measuring of the stop rule on searches that are written out by hand."""

from collections import Counter

from scoring.simulated_search import PAGE, ROUNDS, Progress, Search, by_labels, with_errors
from scoring.simulated_sources import SimulatedSources
from scoring.stop_rule import StopRules
from scoring.stop_simulation import evaluate_stop

RULES = StopRules()


def order(*useful_at: int, source: int = 0, shared: bool = True) -> tuple[str, ...]:
    """Return sixty documents; those at the named places are u0, u1 ..., the others belong to this source alone."""
    names = {place: f"u{n}" if shared else f"u{source}.{n}" for n, place in enumerate(useful_at)}
    return tuple(names.get(place, f"x{source}.{place}") for place in range(PAGE * ROUNDS))


def search(*orders: tuple[str, ...], question_id: str = "1") -> Search:
    useful = frozenset(each for one in orders for each in one if each.startswith("u"))
    return Search(question_id=question_id, orders=orders, useful=useful)


ALL_AT_ONCE = search(*(order(0, 1, 2, 3, source=n) for n in range(4)))


def test_everything_in_the_first_round_saturates_two_rounds_later() -> None:
    """Four finds on four sources, then silence: the estimate is 1, and 8 quiet replies after the 1st are the 9th."""
    found = evaluate_stop([ALL_AT_ONCE], RULES).saturation
    assert (found.n, found.recall_mean, found.false_saturated) == (1, 1.0, 0.0)
    assert found.reasons == {"saturated": 1}
    assert found.rounds_mean == 9 / 4
    assert found.rounds_share == round(9 / 48, 4)


def test_a_late_find_makes_it_wrong() -> None:
    """What stands at the 40th place of the one source that has it is a quarter of what there is."""
    late = search(order(0, 1, 2, 40), *(order(0, 1, 2, source=n) for n in (1, 2, 3)))
    found = evaluate_stop([late], RULES).saturation
    assert found.recall_mean == 0.75
    assert found.false_saturated == 1.0


def test_fixed_rounds_find_what_they_show() -> None:
    spread = search(*(order(0, 11, 22, 33, source=n) for n in range(2)))
    found = evaluate_stop([spread], RULES).fixed_rounds
    assert {name: each.recall_mean for name, each in found.items()} == {
        "2": 0.25,
        "4": 0.5,
        "8": 1.0,
    }


def test_too_few_useful_documents_are_not_measured() -> None:
    found = evaluate_stop([search(order(0), order(0, source=1))], RULES)
    assert (found.saturation.n, found.saturation.recall_mean) == (0, None)
    assert found.agreement["L1"].n == 1


def test_complete_is_said_when_both_sub_questions_have_their_sources() -> None:
    closed = evaluate_stop([ALL_AT_ONCE, ALL_AT_ONCE], RULES).checklist
    assert (closed.n, closed.complete, closed.complete_but_open) == (1, 1, 0)
    alone = search(order(0, 1), order(source=1), question_id="2")
    open_one = evaluate_stop([alone, alone], RULES).checklist
    assert (open_one.complete, open_one.without_reason) == (0, 0)


def test_sources_that_show_the_same_first_agree() -> None:
    right = search(order(0, source=0), order(source=1), order(0, source=2))
    found = evaluate_stop([right], RULES).agreement
    assert (found["L0"].replies_mean, found["L0"].right) == (1.0, 1.0)
    assert (found["L1"].replies_mean, found["L1"].right) == (3.0, 1.0)


def test_more_patience_never_finds_less() -> None:
    spread = search(*(order(0, 7 * n, 13 * n, 9, 44, source=n, shared=False) for n in (1, 2, 3, 4)))
    recalls = [
        evaluate_stop([spread], StopRules(quiet_arrivals_wide=n, saturated_arrivals=n))
        for n in range(2, 20, 3)
    ]
    found = [each.saturation.recall_mean for each in recalls]
    assert found == sorted(found)  # type: ignore[type-var]


def test_the_erring_judge_errs_at_its_rates_and_the_same_every_time() -> None:
    said = Counter(
        (label, with_errors("q", f"{label}{n}", label))
        for label in (True, False)
        for n in range(2000)
    )
    assert 0.82 < said[True, True] / 2000 < 0.88
    assert 0.02 < said[False, True] / 2000 < 0.04
    assert with_errors("q", "d", True) is with_errors("q", "d", True)


def test_progress_counts_each_find_once_and_each_source() -> None:
    made = search(order(0, 1), order(0, source=1))
    progress = Progress(made, by_labels)
    for reply in list(made.shown())[:2]:
        progress.take(*reply)
    assert [each.new for each in progress.arrivals] == [2, 0]
    assert [each.fresh for each in progress.arrivals] == [5, 4]
    assert sorted(progress.finds) == [1, 2]
    assert progress.sources == 2


def test_the_four_orders_put_what_is_about_the_question_first() -> None:
    texts = [
        "tea is grown on hills",
        "a bridge over the sound",
        "the tidal turbine turns",
        "trains and rails",
    ]
    sources = SimulatedSources([each[:12] for each in texts], texts)
    found = sources.orders("tidal turbine", 3)
    assert [each[:1] for each in found] == [(2,)] * 4
    assert sources.orders("nothing known", 3) == ((),) * 4
