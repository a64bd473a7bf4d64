"""The outline of a research before anything is searched: drafted, kept in the vault, and left to a person.

The job that drafts it is cancelled as soon as it asks about its outline, so that nothing is retrieved however long the
person takes. What stands in the vault then is what the research looks into.
"""

from contextlib import aclosing, suppress

from msgspec import Struct, structs

from signal_search.client.desk import GIVE_UP, Desk
from signal_search.client.following import Follow
from signal_search.client.researching import Research, state_of, with_outline
from signal_search.client.vault import OUTLINE, Vault
from signal_search.contracts.delegation import OutlineConfirm
from signal_search.contracts.job import Job
from signal_search.contracts.query import DelegationKind
from signal_search.contracts.trace import Delegated, Planned
from signal_search.errors import Invalid, SignalSearchError

_GOES_ON = frozenset({"", "continue"})


class NeedsConfirm(Struct, frozen=True, kw_only=True):
    """An outline that waits for its person. outline_file: in the vault; iterations: rounds of retrieval so far."""

    outline: str
    outline_file: str = OUTLINE
    needs_confirm: bool = True
    iterations: int = 0


class Cancelled(Struct, frozen=True, kw_only=True):
    """A research that its person did not want."""

    cancelled: bool = True


def answered(text: str) -> Cancelled | None:
    """Return what a person's answer to an outline means: `continue` or nothing goes on (None), all else cancels."""
    return None if text.strip().casefold() in _GOES_ON else Cancelled()


async def draft_outline(desk: Desk, wanted: Research) -> NeedsConfirm:
    """Write the outline of a research to its vault and return it, without any retrieval.

    An outline that stands there already, edited or not, is not drafted again.

    Raises:
        Invalid: no vault is named, it is of another question, or the question has no outline (L0, L1, no source).
        Failed: what the job failed of.
    """
    if wanted.folder is None:
        raise Invalid("an outline is confirmed in a vault", field="vault")
    vault = Vault(wanted.folder)
    state = state_of(vault, wanted.request)
    outline = vault.outline()
    if outline is None:
        outline = await _drafted(desk, wanted)
        vault.keep_state(state)
        vault.keep_outline(outline)
    return NeedsConfirm(outline=outline)


async def _drafted(desk: Desk, wanted: Research) -> str:
    request = with_outline(wanted.request)
    # Nothing but the outline is offered: a draft asks nobody anything else.
    alone = structs.replace(request, delegate=(DelegationKind.OUTLINE_CONFIRM,))
    job = await desk.submit(alone)
    try:
        return await _outline_of(desk, job)
    finally:
        with suppress(SignalSearchError):
            await desk.call(lambda: desk.transport.cancel(job.id), GIVE_UP)


async def _outline_of(desk: Desk, job: Job) -> str:
    """Return the outline that a job asks about; one that plans without asking has none."""
    async with aclosing(desk.follow(Follow(refresh=False, need_log=True), job)) as updates:
        async for update in updates:
            entry = update.entry
            if isinstance(entry, Delegated) and isinstance(
                entry.delegation.question, OutlineConfirm
            ):
                return entry.delegation.question.outline
            if isinstance(entry, Planned):
                break
    raise Invalid("this question has no outline to confirm", field="query")
