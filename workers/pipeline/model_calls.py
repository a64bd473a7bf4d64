"""Questions of a job to the operator's model: within the job's time, and paid for like everything else.

The tokens of token, tenant and deployment are held before the call and settled with what the model reported, all of
them where it reported nothing. The job's own limits are looked at, not held, where it asks before its purse is open.
"""

from collections.abc import Callable

from signal_search.contracts.budget import Amounts, Dimension
from signal_search.errors import JudgeFailed

from budget.ledger import Short
from infra.job_store import StoredJob
from infra.llm import Prompt, ask, charged
from infra.llm_reply import Completion
from infra.settings import Search, Settings
from workers.pipeline.purses import levels_of, open_shared
from workers.toolbox import Toolbox

Ask = Callable[[Prompt], Completion]

_LEAST_S = 5.0
_LEASE_MS = 180_000


def figures_for(tools: Toolbox, stored: StoredJob, *, share: float) -> Search:
    """Return the settings of search, a call to the model taking at most `share` of the time that the job has left."""
    search = tools.settings.search
    left_s = (stored.spec.deadline_ms - tools.clock.now_ms()) / 1000
    seconds = max(_LEAST_S, min(search.agent_timeout_s, left_s * share))
    return search.model_copy(update={"agent_timeout_s": seconds})


def asking(
    tools: Toolbox,
    stored: StoredJob,
    name: str,
    limits: Amounts,
    *,
    settings: Settings | None = None,
    from_purse: bool = False,
) -> Ask:
    """Return the call to the model. name: of this question in the job; limits: the job's own.

    settings: of another model than that of the search; from_purse: the job's purse is open and pays too.

    It raises JudgeFailed as `infra.llm.ask`, and `budget` when a limit leaves nothing for it.
    """

    def complete(prompt: Prompt) -> Completion:
        cost = {Dimension.JUDGE_REQUESTS: 1, Dimension.MODEL_TOKENS: _most(prompt)}
        if any(limits.get(each, cost[each]) < cost[each] for each in cost):
            raise JudgeFailed("The budget does not suffice.", code="budget")
        open_shared(tools, stored)  # weights are asked for before the job's plan is there
        hold, levels = f"{stored.spec.id}|{name}", levels_of(tools, stored)[not from_purse :]
        reserved = tools.ledger.reserve(hold, levels, cost, lease_ms=_LEASE_MS)
        if isinstance(reserved, Short):
            raise JudgeFailed("The budget does not suffice.", code="budget")
        used = most = cost[Dimension.MODEL_TOKENS]
        try:
            completion = ask(settings or tools.settings, tools.clock, prompt)
            used = charged(completion, most)
        except JudgeFailed as error:
            used = charged(error, most)
            raise
        finally:
            spent = {Dimension.JUDGE_REQUESTS: 1, Dimension.MODEL_TOKENS: used}
            tools.ledger.settle(hold, spent)
        return completion

    return complete


def _most(prompt: Prompt) -> int:
    """Return the most tokens that a question can cost: no token is less than a byte."""
    return prompt.max_tokens + sum(len(each.content.encode()) for each in prompt.messages)
