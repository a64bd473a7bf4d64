"""Research: the same job with its outline confirmed, and a vault that can be left, resumed and asked again.

Without a vault it is `retrieve` at depth deep. With one, the job outlives its caller: the next call goes on with it, a
finished one is read from the folder, and `refresh` asks again and says what changed.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from msgspec import structs

from signal_search.client.answering import called
from signal_search.client.delegates import Delegates
from signal_search.client.desk import Desk, narrowed
from signal_search.client.following import Update
from signal_search.client.replies import TIMED_OUT, UNREACHABLE
from signal_search.client.vault import Attempt, Vault, VaultState
from signal_search.contracts.query import DelegationKind, RetrieveRequest
from signal_search.contracts.result import Result
from signal_search.errors import Failed, Gone, Invalid, NotFound

_LOST = frozenset({"job_cancelled", "job_expired"})


@dataclass(frozen=True)
class Research:
    """One call: what is asked, where it is kept, whether to ask again although there is a result."""

    request: RetrieveRequest
    folder: Path | None
    refresh: bool = False


async def research(
    desk: Desk,
    wanted: Research,
    on_progress: Callable[[Update], object] | None,
    delegates: Delegates,
) -> Result:
    """Return the result of a research.

    Raises:
        Invalid: the vault is of another question.
        Failed: what the job failed of.
    """
    if wanted.folder is None:
        return await desk.retrieve(wanted.request, None, on_progress, delegates)
    vault = Vault(wanted.folder)
    state = _state(vault, wanted.request)
    last = state.last
    if last is not None and last.finished and not wanted.refresh:
        known = vault.result()
        if known is not None:
            return known
    helpers = _confirming(vault, delegates)
    request = structs.replace(wanted.request, delegate=_with_outline(wanted.request))
    if last is not None and not last.finished:
        try:
            return await _carried_on(desk, vault, state, on_progress, helpers)
        except (NotFound, Gone):
            pass  # it is gone with its result: asked anew
        except Failed as error:
            is_ended = error.code not in {UNREACHABLE, TIMED_OUT}
            if error.code not in _LOST and not (wanted.refresh and is_ended):
                raise
    fresh = structs.replace(
        state, request=request, attempts=(*state.attempts, Attempt(key=secrets.token_hex(16)))
    )
    return await _carried_on(desk, vault, fresh, on_progress, helpers)


async def _carried_on(
    desk: Desk,
    vault: Vault,
    state: VaultState,
    on_progress: Callable[[Update], object] | None,
    delegates: Delegates,
) -> Result:
    """Make the latest attempt's job unless it is there, follow it, and write the folder."""
    last = state.last
    if last is None:
        raise Invalid("there is nothing to go on with", field="vault")
    vault.keep_state(state)
    if not last.job_id:
        job = await desk.submit(state.request, last.key)
        last = structs.replace(last, job_id=job.id)
        state = structs.replace(state, attempts=(*state.attempts[:-1], last))
        vault.keep_state(state)
    result = narrowed(await desk.attend(last.job_id, on_progress, delegates), Result)
    vault.keep_result(result)
    done = structs.replace(last, finished=True)
    vault.keep_state(structs.replace(state, attempts=(*state.attempts[:-1], done)))
    return result


def _state(vault: Vault, request: RetrieveRequest) -> VaultState:
    state = vault.state()
    if state is None:
        return VaultState(request=request)
    if state.request.query != request.query:
        raise Invalid("this vault is of another question", field="vault")
    return state


def _with_outline(request: RetrieveRequest) -> tuple[DelegationKind, ...]:
    return tuple(dict.fromkeys((*request.delegate, DelegationKind.OUTLINE_CONFIRM)))


def _confirming(vault: Vault, delegates: Delegates) -> Delegates:
    """Return the callables with one that keeps the outline.

    The caller's own is shown the outline and its answer kept. Without one the outline in the folder, edited or not,
    is what is looked into; in an empty folder the planner's stands.
    """
    own = delegates.get("outline_fn")

    async def keep(outline: str) -> str:
        said = vault.outline() or outline
        vault.keep_outline(said)
        if own is not None:
            answer: object = await called(own, (said,))
            said = answer if isinstance(answer, str) else said
            vault.keep_outline(said)
        return said

    return {**delegates, "outline_fn": keep}
