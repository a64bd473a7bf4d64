"""Research: the same job with its outline confirmed, and a vault that can be left, resumed and asked again.

It always offers to confirm the outline: that is what tells a research from a `retrieve`, and what has a question
without parts of its own looked at from the default aspects. With a vault, the job outlives its caller: the next call
goes on with it, a finished one is read from the folder, and `refresh` asks again and says what changed.
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
from signal_search.client.references import reference_files
from signal_search.client.replies import TIMED_OUT, UNREACHABLE
from signal_search.client.vault import Attempt, Vault, VaultState
from signal_search.contracts.query import DelegationKind, RetrieveRequest
from signal_search.contracts.result import Result
from signal_search.errors import Failed, Gone, Invalid, NotFound

_LOST = frozenset({"job_cancelled", "job_expired"})


@dataclass(frozen=True)
class Research:
    """One call: what is asked, where it is kept, whether to ask again although there is a result.

    references: in which formats the citations are written beside the others, by the names of `references`.
    """

    request: RetrieveRequest
    folder: Path | None
    refresh: bool = False
    references: tuple[str, ...] = ()


async def research(
    desk: Desk,
    wanted: Research,
    on_progress: Callable[[Update], object] | None,
    delegates: Delegates,
) -> Result:
    """Return the result of a research.

    Raises:
        Invalid: the vault is of another question, there is none to write citations to, or a format is not known.
        Failed: what the job failed of.
    """
    files = reference_files(wanted.references)
    request = with_outline(wanted.request)
    if wanted.folder is None:
        if files:
            raise Invalid("citations are written to a vault", field="vault")
        return await desk.retrieve(request, None, on_progress, _accepting(delegates))
    vault = Vault(wanted.folder)
    state = state_of(vault, wanted.request)
    result = None if wanted.refresh else _known(vault, state)
    if result is None:
        helpers = _confirming(vault, delegates)
        result = await _asked(desk, wanted, vault, state, on_progress, helpers)
    vault.keep_references(result, files)
    return result


def _known(vault: Vault, state: VaultState) -> Result | None:
    is_finished = state.last is not None and state.last.finished
    return vault.result() if is_finished else None


async def _asked(
    desk: Desk,
    wanted: Research,
    vault: Vault,
    state: VaultState,
    on_progress: Callable[[Update], object] | None,
    delegates: Delegates,
) -> Result:
    """Go on with the latest job that has not ended; where there is none, or it is lost, make another."""
    last = state.last
    if last is not None and not last.finished:
        try:
            return await _carried_on(desk, vault, state, on_progress, delegates)
        except (NotFound, Gone):
            pass  # it is gone with its result: asked anew
        except Failed as error:
            is_ended = error.code not in {UNREACHABLE, TIMED_OUT}
            if error.code not in _LOST and not (wanted.refresh and is_ended):
                raise
    fresh = structs.replace(
        state,
        request=with_outline(wanted.request),
        attempts=(*state.attempts, Attempt(key=secrets.token_hex(16))),
    )
    return await _carried_on(desk, vault, fresh, on_progress, delegates)


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


def state_of(vault: Vault, request: RetrieveRequest) -> VaultState:
    """Return what the vault is about, which for an empty one is the request.

    Raises:
        Invalid: it is of another question.
    """
    state = vault.state()
    if state is None:
        return VaultState(request=request)
    if state.request.query != request.query:
        raise Invalid("this vault is of another question", field="vault")
    return state


def with_outline(request: RetrieveRequest) -> RetrieveRequest:
    """Return the request of a research: it offers to confirm the outline."""
    kinds = dict.fromkeys((*request.delegate, DelegationKind.OUTLINE_CONFIRM))
    return structs.replace(request, delegate=tuple(kinds))


def _accepting(delegates: Delegates) -> Delegates:
    """Return the callables with one that takes the outline as it is, unless the caller has one."""
    own = delegates.get("outline_fn")
    return delegates if own is not None else {**delegates, "outline_fn": lambda outline: outline}


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
