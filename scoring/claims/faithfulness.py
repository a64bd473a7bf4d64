"""How much of an answer its sources bear out, and what is left open."""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct
from signal_search.contracts.finding import Claim, Uncertainty, Verdict


class Faithfulness(Struct, frozen=True, kw_only=True):
    """Counts by verdict; `share` is true / total, None without claims: UNCERTAIN never counts as support."""

    true: int
    false: int
    uncertain: int
    total: int
    share: float | None


def faithfulness_of(claims: Sequence[Claim]) -> Faithfulness:
    """Return the counts and the share of TRUE among all claims (M51)."""
    counts = Counter(each.verdict for each in claims)
    return Faithfulness(
        true=counts[Verdict.TRUE],
        false=counts[Verdict.FALSE],
        uncertain=counts[Verdict.UNCERTAIN],
        total=len(claims),
        share=counts[Verdict.TRUE] / len(claims) if claims else None,
    )


def uncertainties(claims: Sequence[Claim]) -> tuple[Uncertainty, ...]:
    """Return what could not be settled, each with its reason and, where a source speaks against it, that address."""
    return tuple(
        Uncertainty(
            text=each.text,
            reason=each.reason,
            url=each.contradicting[0].url if each.contradicting else "",
        )
        for each in claims
        if each.verdict is Verdict.UNCERTAIN
    )
