"""Research memory by the files of this machine: what a command line next to them works on, without a deployment.

Whoever can open the files is trusted with all scopes, and says who acts; that name is for the audit, no authentication.
"""

from pathlib import Path

import msgspec
from signal_search.contracts.memory import AnyCommand, ReceiptRequest
from signal_search.contracts.memory_index import Indexed
from signal_search.contracts.research import ResearchQuery, RouterResult, ScopeKey
from signal_search.receipts import sealed

from infra.clock import SystemClock
from infra.settings import current
from workers.memory.performing import perform
from workers.research import Desk


def open_files(actor: str) -> "MemoryFiles":
    """Return the memory of this machine for somebody who acts in this name."""
    return MemoryFiles(Desk(current(), SystemClock()), actor)


class MemoryFiles:
    """What the command line asks of the files; it may not be imported from there."""

    def __init__(self, desk: Desk, actor: str) -> None:
        """Work on the files of `desk`."""
        self._desk = desk
        self._actor = actor

    def remember(self, command: AnyCommand | ReceiptRequest, *, idempotency_key: str) -> bytes:
        """Carry out a command, once for each key, and return what came of it as JSON; raises as `perform`."""
        done: AnyCommand = (
            sealed(command, command.scope) if isinstance(command, ReceiptRequest) else command
        )
        store = self._desk.store(done.scope)
        return msgspec.json.encode(perform(store, done, actor=self._actor, event=idempotency_key))

    def query(self, asked: ResearchQuery, root: Path | None) -> RouterResult:
        """Answer a question; `root` is a folder that grep reads too."""
        return self._desk.answer(asked, root)

    def index(self, scope: ScopeKey, folder: Path | None, *, anew: bool) -> Indexed:
        """Make the index of a scope the state of a folder, without one of that of the settings; raises as the desk."""
        if folder is None:
            return self._desk.refresh(scope, anew=anew)
        return self._desk.index(scope, folder, anew=anew)

    def close(self) -> None:
        """Let go of nothing: files are open for one operation."""
