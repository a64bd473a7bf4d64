"""A bell that a worker may answer itself: the one next step of what it is doing needs no message.

Planning one call, asking for it and reducing its cached reply are each a few milliseconds of arithmetic; a message
between them costs as much again. Only workers that plan and reduce go on by themselves: what a crawl worker hears of
is reduced elsewhere. Steps that can go on side by side are rung for, so that other workers take them.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import local

Send = Callable[[str, str], bool]
Bell = tuple[str, str]


class NextStep:
    """Bells of one process: kept for the thread that rings them while it works on a step, sent otherwise.

    A kept bell that its worker dies with is rung again by the reconciler, like one that was lost on its way.
    """

    def __init__(self, send: Send, *, keeps: bool) -> None:
        """Send what is not kept with `send`, which says whether it was taken; keep nothing unless `keeps`."""
        self._send = send
        self._keeps = keeps
        self._thread = local()

    def ring(self, task: str, step_id: str) -> bool:
        """Keep a bell or send it. A second one shows that there is something to share: then both are sent."""
        kept: list[Bell] | None = getattr(self._thread, "kept", None)
        if kept is None or kept == [(task, step_id)]:
            return kept is not None or self._send(task, step_id)
        if not kept:
            kept.append((task, step_id))
            return True
        self._thread.kept = None
        return all([self._send(*kept[0]), self._send(task, step_id)])

    @contextmanager
    def kept(self) -> Iterator[list[Bell]]:
        """Keep a bell that is rung inside, by this thread; the list holds it when the body is left, if it was one.

        A body that raises has its bell sent.
        """
        if not self._keeps:
            yield []
            return
        kept: list[Bell] = []
        self._thread.kept = kept
        try:
            yield kept
        except BaseException:
            for task, step_id in self._open(kept):
                self._send(task, step_id)
            raise
        self._open(kept)

    def _open(self, kept: list[Bell]) -> list[Bell]:
        """Keep no more; empty the list unless its bell is still to be answered."""
        if getattr(self._thread, "kept", None) is None:
            kept.clear()
        self._thread.kept = None
        return kept
