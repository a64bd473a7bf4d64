"""What the operator's model is asked for counts on the token, the tenant and the deployment, where they have limits.

A call is held before it is made and settled with what the endpoint reported. Fails closed: when the ledger does not
answer, nothing is asked.
"""

from litestar.concurrency import sync_to_thread
from signal_search.contracts.budget import Dimension
from signal_search.errors import Busy

from api_gateway.quotas import Quotas, Spender
from budget.ledger import Ledger, Short


class ModelPurse:
    """The purse of one request; holds are named by the request, so that a lost one is given back by its lease."""

    def __init__(self, ledger: Ledger, quotas: Quotas, spender: Spender, *, lease_ms: int) -> None:
        """Pay for `spender`; `lease_ms` must be longer than a call may take."""
        self._ledger = ledger
        self._quotas = quotas
        self._spender = spender
        self._lease_ms = lease_ms
        self._held: set[str] = set()  # none where nobody set a limit

    async def hold(self, call: int, tokens: int) -> None:
        """Reserve a call's tokens on every level.

        Raises:
            Busy: `quota_exceeded`: one of them has not so many left.
        """
        refusal = await sync_to_thread(self._reserve, self._named(call), tokens)
        if refusal is not None:
            raise refusal

    async def settle(self, call: int, tokens: int) -> None:
        """Book what a call used."""
        if self._named(call) not in self._held:
            return
        used = {Dimension.MODEL_TOKENS: tokens, Dimension.JUDGE_REQUESTS: 1 if tokens else 0}
        await sync_to_thread(self._ledger.settle, self._named(call), used)

    def _reserve(self, hold: str, tokens: int) -> Busy | None:
        levels = self._quotas.open(self._spender)
        if not levels:
            return None
        self._held.add(hold)
        cost = {Dimension.MODEL_TOKENS: tokens, Dimension.JUDGE_REQUESTS: 1}
        found = self._ledger.reserve(hold, levels, cost, lease_ms=self._lease_ms)
        if isinstance(found, Short):
            return self._quotas.short(self._spender, found)
        return None

    def _named(self, call: int) -> str:
        return f"generate:{self._spender.id}:{call}"
