"""How many tokens one generation may still use: reserved by bytes before each call, since nobody can count in advance.

The rule is the scorer guide's: a call reserves the bytes of its messages, 256 more for their framing, and its whole
output; against the total stands the larger of what was reserved and what was reported so far.
"""

from dataclasses import dataclass
from typing import Final

from signal_search.errors import TooLarge

FRAMING_TOKENS: Final = 256
"""What a call reserves beside its messages' bytes and its output (scorer guide)."""


@dataclass
class Allowance:
    """The tokens of one generation. reserved: by every call so far; reported: by the endpoint's own count."""

    total: int
    reserved: int = 0
    reported: int = 0

    def reserve(self, message_bytes: int, output_tokens: int) -> int:
        """Reserve one call and return for how many tokens.

        Raises:
            TooLarge: `token_budget_exceeded`: the total does not allow it; nothing is reserved then.
        """
        cost = message_bytes + FRAMING_TOKENS + output_tokens
        if max(self.reserved, self.reported) + cost > self.total:
            raise _too_much()
        self.reserved += cost
        return cost

    def report(self, tokens: int) -> None:
        """Add what an answer reported."""
        self.reported += tokens

    def check(self) -> None:
        """Refuse to go on when more was reported than the total; what was used cannot be taken back.

        Raises:
            TooLarge: `token_budget_exceeded`: it was.
        """
        if self.reported > self.total:
            raise _too_much()


def _too_much() -> TooLarge:
    message = "This would use more tokens than one generation may."
    return TooLarge(message, code="token_budget_exceeded")
