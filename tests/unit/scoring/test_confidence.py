"""Confidence by hand; that it is monotone is a property test."""

import pytest

from scoring.confidence import ConfidenceParts, confidence_of


def parts(**changes: object) -> ConfidenceParts:
    values = {
        "weights": (0.9, 0.7),
        "agreement": 1.0,
        "verified": 1.0,
        "coverage": 1.0,
        "freshness": 1.0,
    }
    return ConfidenceParts(**{**values, **changes})  # type: ignore[arg-type]


def test_nothing_lacking_is_the_mean_weight() -> None:
    assert confidence_of(parts()).value == 0.8


@pytest.mark.parametrize(
    ("name", "share"),
    [("verified", 0.75), ("agreement", 0.8), ("coverage", 0.8), ("freshness", 0.9)],
)
def test_what_is_missing_costs_its_share(name: str, share: float) -> None:
    assert confidence_of(parts(**{name: 0.0})).value == pytest.approx(0.8 * share)


def test_no_evidence_is_no_confidence() -> None:
    found = confidence_of(parts(weights=()))
    assert found.value == 0.0
    assert found.reasons == ("no evidence",)


def test_reasons_name_every_part() -> None:
    assert confidence_of(parts(verified=0.5)).reasons == (
        "sources: 2",
        "mean weight 0.80",
        "independent agreement 1.00",
        "claims verified 0.50",
        "sub-questions covered 1.00",
        "freshness 1.00",
    )
    assert confidence_of(parts(), "zh").reasons[0] == "来源: 2"
