"""The thresholds of verification, passed in so that a replay can use others."""

from msgspec import Struct


class VerifyRules(Struct, frozen=True, kw_only=True):
    """Shares from 0 to 1 of a claim's words, as in section [verify] of the defaults.

    true_recall: weighted content words in the best sentence; true_window: the same over two neighbouring sentences;
    true_order: longest common subsequence of all words; false_order and false_recall: the same for a contradiction.
    """

    true_recall: float = 0.75
    true_window: float = 0.75
    true_order: float = 0.65
    false_order: float = 0.8
    false_recall: float = 0.6
    max_claims: int = 60
