"""Amounts as both ledgers take them: whole, not negative, in one order, without the zeros that cost nothing."""

from collections.abc import Mapping

from signal_search.contracts.budget import Amounts, Dimension
from signal_search.errors import Broken

_ORDER = tuple(Dimension)


def counted(amounts: Mapping[Dimension, int]) -> Amounts:
    """Return the amounts above zero in the order of `Dimension`, so that a shortage always names the same one.

    Raises:
        Broken: when an amount is negative: it would lift a limit.
    """
    if min(amounts.values(), default=0) < 0:
        raise Broken("an amount is negative")
    return {each: amounts[each] for each in _ORDER if amounts.get(each, 0) > 0}
