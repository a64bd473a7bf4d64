"""The measuring itself, on rows whose figures are counted by hand."""

from signal_search.contracts.finding import Verdict

from scoring.claims.evaluation import evaluate, metrics

T, F, U = Verdict.TRUE, Verdict.FALSE, Verdict.UNCERTAIN


def test_both_directions() -> None:
    pairs = [
        ("TRUE", T),
        ("TRUE", T),
        ("TRUE", U),
        ("TRUE", F),
        ("FALSE", F),
        ("FALSE", T),
        ("UNCERTAIN", U),
        ("UNCERTAIN", T),
    ]
    found = metrics(pairs)
    assert found["n"] == 8
    assert found["labels"] == {"FALSE": 2, "TRUE": 4, "UNCERTAIN": 2}
    assert found["said"] == {"TRUE": 4, "FALSE": 2, "UNCERTAIN": 2}
    assert (found["precision_true"], found["coverage_true"], found["lost_true"]) == (0.5, 0.5, 0.5)
    assert (found["false_true"], found["true_given_false"]) == (0.5, 0.5)
    assert (found["precision_false"], found["coverage_false"]) == (0.5, 0.5)


def test_nothing_asked_is_none_not_zero() -> None:
    assert metrics([("TRUE", U)])["precision_true"] is None


def test_rows_by_set_language_and_kind_with_the_control() -> None:
    rows = [
        {
            "set": "s",
            "lang": "en",
            "claim": "UDP is fast.",
            "evidence": "UDP is fast.",
            "label": "TRUE",
            "orig": "verbatim",
            "group": "1",
        },
        {
            "set": "s",
            "lang": "en",
            "claim": "TCP is slow.",
            "evidence": "TCP is not slow.",
            "label": "FALSE",
            "orig": "negation",
            "group": "2",
        },
        {
            "set": "s",
            "lang": "en",
            "claim": "UDP is fast.",
            "evidence": "UDP is fast.",
            "label": "TRUE",
            "orig": "verbatim",
            "group": "3",
        },
    ]
    found = evaluate(rows)
    assert found["s/en"]["said"] == {"TRUE": 2, "FALSE": 1, "UNCERTAIN": 0}
    assert found["s/en/negation"]["precision_false"] == 1.0
    # Of the next groups' evidence, the first and last claim find their own words again: groups 1 and 3 say the same.
    assert found["s/en/someone_elses_evidence"] == {"n": 3, "said_true": 1}
