"""What a question to research memory may cost, kept in the ledger: rounds, calls, and what a model is asked for.

The count is the store's, so that it holds however many processes work on the job, one after the other or at once. Each
hold is named by its number in the job: a step that is tried again is not charged again.
"""

from msgspec import structs
from signal_search.contracts.budget import Amounts, Dimension

from budget.ledger import Short
from budget.policy import job_level
from infra.job_store import StoredJob, life_ms
from infra.llm import Prompt
from infra.llm_reply import Completion
from infra.settings import Research, Settings
from workers.memory.plan import MAX_ROUNDS
from workers.pipeline.model_calls import asking
from workers.pipeline.purses import levels_of, open_shared
from workers.toolbox import Toolbox

_LEASE_MS = 60_000
_QUESTIONS = 2  # to a model: for a plan, and for the last order
_LEAST_S = 0.1


def limits_of(figures: Research) -> Amounts:
    """Return the limits of one question by dimension."""
    return {
        Dimension.ROUNDS: MAX_ROUNDS,
        Dimension.CALLS: figures.max_calls,
        Dimension.JUDGE_REQUESTS: _QUESTIONS,
        Dimension.MODEL_TOKENS: figures.llm_tokens,
    }


class ResearchPurse:
    """`Allowance` of a job, and its way to the model. Opens the job's purse; fails closed, as the ledger does."""

    def __init__(self, tools: Toolbox, stored: StoredJob) -> None:
        """Open the purses of the job, its tenant and the deployment."""
        self._tools = tools
        self._stored = stored
        self._limits = limits_of(tools.settings.research)
        tools.ledger.open(job_level(stored.spec.id), self._limits, ttl_ms=life_ms(stored.spec))
        open_shared(tools, stored)

    def round(self, number: int) -> bool:
        """Charge the round of this number; tell whether there was one left."""
        return self._charged(f"round.{number}", {Dimension.ROUNDS: 1})

    def call(self, number: int) -> bool:
        """Charge the call of this number; tell whether there was one left."""
        return self._charged(f"call.{number}", {Dimension.CALLS: 1})

    def _charged(self, name: str, cost: Amounts) -> bool:
        hold = f"{self._stored.spec.id}|research.{name}"
        levels = levels_of(self._tools, self._stored)
        reserved = self._tools.ledger.reserve(hold, levels, cost, lease_ms=_LEASE_MS)
        if isinstance(reserved, Short):
            return False
        self._tools.ledger.settle(hold, cost)
        return True

    def put(self, name: str, settings: Settings, prompt: Prompt) -> Completion:
        """Ask the model of these settings within the job's time and budget; raises as `asking`'s call."""
        left_s = (self._stored.spec.deadline_ms - self._tools.clock.now_ms()) / 1000
        bounded = structs.replace(prompt, timeout_s=max(_LEAST_S, min(prompt.timeout_s, left_s)))
        ask = asking(
            self._tools,
            self._stored,
            f"research.{name}",
            self._limits,
            settings=settings,
            from_purse=True,
        )
        return ask(bounded)
