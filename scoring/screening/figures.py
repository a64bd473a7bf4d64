"""The fixed figures of the adaptive search's algebra, version `screening-v3` (adaptive search guide, V3).

They are uncalibrated starting points of the guide and no parameters of a request: two results are only comparable when
they were judged by the same ones.
"""

from math import isfinite
from typing import Final

from msgspec import Struct

VERSION: Final = "screening-v3"

DIRECTION_SHARE: Final = 0.2
"""Which part of a result's value hangs on its direction, where the caller stated an intent."""

RELEVANCE_ABOVE: Final = 0.6
READING_VALUE_ABOVE: Final = 0.5
INJECTION_AT_MOST: Final = 0.7
MATCH_ABOVE: Final = 0.5
TIME_MATCH_ABOVE: Final = 0.6
CONFIDENCE_AT_LEAST: Final = 0.5
"""Of a choice; one that is less sure counts as not made."""

SOURCE_ABOVE: Final = 0.5
"""A source is asked when the judge's answer about it is above."""


class Weights(Struct, frozen=True, kw_only=True):
    """What the three parts of a keyword's score count for; repetition: what each further group is worth of the last.

    The bounds keep the guide's order of things: a keyword match alone never beats coverage, and both together can
    pass 1.
    """

    keyword: float = 0.25
    coverage: float = 0.90
    repeated: float = 0.10
    repetition: float = 0.5

    def __post_init__(self) -> None:
        """Refuse weights that are out of order.

        Raises:
            ValueError: one is negative or not finite, or a bound of the guide does not hold.
        """
        parts = (self.keyword, self.coverage, self.repeated)
        if not all(isfinite(each) and each >= 0 for each in parts):
            raise ValueError("weights are finite and not negative")
        if not 0 < self.repetition < 1:
            raise ValueError("repetition lies between 0 and 1")
        if self.keyword + self.repeated >= 1 or self.keyword + self.coverage <= 1:
            raise ValueError("the weights are out of order")


WEIGHTS: Final = Weights()
