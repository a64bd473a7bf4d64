"""The port of judges: closed questions in, typed answers out. Who answers is the operator's choice, by setting.

A judge fails as an answer with an `error`, never by raising, so that nothing it broke reaches the loop. It is told no
key, no setting and nothing of other jobs. What it says is data: it is checked against the questions before anyone uses
it, and it can close a keyword but not approve what the gates refuse.
"""

from collections.abc import Callable
from typing import Protocol

from signal_search.contracts.judging import Judgements, JudgeRequest

GoesOn = Callable[[], bool]


def always() -> bool:
    """Say that nobody has cancelled anything."""
    return True


class Judge(Protocol):
    """One driver. Not idempotent: each call is asked anew, so who calls writes the answer down first."""

    def judge(
        self, request: JudgeRequest, *, left_s: float, goes_on: GoesOn = always
    ) -> Judgements:
        """Return the answers, within `left_s` seconds; unknown is what is in neither table.

        goes_on: asked before anything is sent a second time; once it says no, the error is `cancelled`.
        """
        ...
