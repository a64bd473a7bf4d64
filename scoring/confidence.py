"""How far to trust an answer: the mean weight of its sources, held down by what the evidence lacks.

Uncalibrated and ours. Every part can only raise it, none can lift an answer above its sources, and without evidence
it is 0; the reasons say which part held it down.
"""

from msgspec import Struct

DECIMALS = 3
# What the mean weight keeps when the part is missing altogether, and what each part gives back; the sum is 1.
_KEPT = 0.25
_VERIFIED = 0.25
_AGREEMENT = 0.20
_COVERAGE = 0.20
_FRESHNESS = 0.10


class ConfidenceParts(Struct, frozen=True, kw_only=True):
    """The evidence of an answer, each part 0..1.

    weights: the weighted scores of the cited sources; agreement: the share of statements that independent sources
    share; verified: the share of claims that hold; coverage: the share of sub-questions answered; freshness: the mean
    recency of the cited sources.
    """

    weights: tuple[float, ...]
    agreement: float
    verified: float
    coverage: float
    freshness: float


class Confidence(Struct, frozen=True):
    """The value, three decimals, and one reason for each part."""

    value: float
    reasons: tuple[str, ...]


def confidence_of(parts: ConfidenceParts, language: str = "en") -> Confidence:
    """Return the confidence (0..1); monotone in every part, the mean of the weights when nothing is lacking."""
    if not parts.weights:
        return Confidence(0.0, ("无证据" if language == "zh" else "no evidence",))
    mean = sum(parts.weights) / len(parts.weights)
    given = (
        _VERIFIED * _share(parts.verified)
        + _AGREEMENT * _share(parts.agreement)
        + _COVERAGE * _share(parts.coverage)
        + _FRESHNESS * _share(parts.freshness)
    )
    value = round(_share(mean * (_KEPT + given)), DECIMALS)
    return Confidence(value, _reasons(parts, mean, language))


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))


def _reasons(parts: ConfidenceParts, mean: float, language: str) -> tuple[str, ...]:
    names = _CHINESE if language == "zh" else _ENGLISH
    shares = (mean, parts.agreement, parts.verified, parts.coverage, parts.freshness)
    listed = [f"{name} {value:.2f}" for name, value in zip(names[1:], shares, strict=True)]
    return (f"{names[0]}: {len(parts.weights)}", *listed)


_ENGLISH = (
    "sources",
    "mean weight",
    "independent agreement",
    "claims verified",
    "sub-questions covered",
    "freshness",
)
_CHINESE = ("来源", "平均权重", "独立印证", "断言核实", "子问题覆盖", "时效")
