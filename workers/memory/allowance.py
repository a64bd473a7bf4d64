"""How many rounds and calls a question may still have: asked before each, so that somebody else can keep the count."""

from typing import Protocol

from msgspec import Struct

from workers.memory.plan import MAX_CALLS, MAX_ROUNDS


class Allowance(Protocol):
    """Says yes or no, before anything is run. Rounds and calls are counted from 1 within the question."""

    def round(self, number: int) -> bool:
        """Tell whether the round of this number may begin."""
        ...

    def call(self, number: int) -> bool:
        """Tell whether the call of this number may be made; what is refused admission has been a call all the same."""
        ...


class Counted(Struct, frozen=True):
    """The limits of one question in one process."""

    calls: int = MAX_CALLS
    rounds: int = MAX_ROUNDS

    def round(self, number: int) -> bool:
        """Tell whether there may be so many."""
        return number <= self.rounds

    def call(self, number: int) -> bool:
        """Tell whether there may be so many."""
        return number <= self.calls
