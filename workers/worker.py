"""What `celery -A workers.worker worker` runs: the tasks, and beside them the reconciler and the polite fetchers."""

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from signal_search.errors import Invalid

from infra.logging import configure, name_process
from infra.settings import current
from workers.celery_app import (
    Background,
    Ending,
    Pids,
    add_background,
    add_ending,
    on_name,
    own_the_log,
)
from workers.last_call import LastCall
from workers.reconciler import Reconciler
from workers.rehearsal import rehearse
from workers.tasks import app, hand_back, publisher, ring, toolbox

if TYPE_CHECKING:
    from workers.fetch_loop import FetchLoop

__all__ = ["app"]

_settings = current()
configure(_settings.log)
if _settings.worker_role in {"reduce", "all"}:
    with suppress(Invalid):  # of the settings; it is said where the tools are opened
        rehearse(_settings)  # before the pool forks: one copy for all, and no job waits for it


class _Parts:
    """The background parts of this worker, so that the last call reaches them."""

    reconciler: Reconciler | None = None
    fetch_loop: "FetchLoop | None" = None


def _reconciler(worker: str) -> Background:
    role = _settings.worker_role
    _Parts.reconciler = Reconciler(
        toolbox(), publisher(), worker=worker, role=role, pid=os.getpid()
    )
    return _Parts.reconciler


def _fetch_loop(_worker: str) -> Background:
    from workers.fetch_loop import FetchLoop  # noqa: PLC0415  half a second that only this role needs

    _Parts.fetch_loop = FetchLoop(_settings, ring)
    return _Parts.fetch_loop


def _last_call(pool: Pids) -> Ending:
    return LastCall(within_s=_settings.queue.stop_s, first=(_take_nothing,), late=_LATE, pool=pool)


def _take_nothing() -> None:
    if _Parts.fetch_loop is not None:
        _Parts.fetch_loop.end()
    if _Parts.reconciler is not None:
        _Parts.reconciler.resign()


def _hand_back_requests() -> None:
    if _Parts.fetch_loop is not None:
        _Parts.fetch_loop.hand_back()


_LATE = (_hand_back_requests, hand_back, lambda: publisher().publish(at_once=True))

own_the_log(lambda: configure(_settings.log))
on_name(lambda name: name_process(process="worker", role=_settings.worker_role, worker=name))
add_ending(app, _last_call)
add_background(app, "Reconcile", _reconciler)
if _settings.worker_role in {"crawl", "all"}:
    add_background(app, "Fetch", _fetch_loop)
