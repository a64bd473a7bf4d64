"""What `celery -A workers.worker worker` runs: the tasks, and beside them the reconciler and the polite fetchers."""

import os

from infra.logging import configure
from infra.settings import current
from scoring.text import tokens
from workers.celery_app import Background, add_background
from workers.reconciler import Reconciler
from workers.tasks import app, publisher, ring, toolbox

__all__ = ["app"]

_settings = current()
configure(_settings.log)
if _settings.worker_role in {"reduce", "all"}:
    # Reads the Chinese dictionary before the pool forks: one copy for all, and no job waits for it.
    tokens("暖")


def _reconciler(worker: str) -> Reconciler:
    role = _settings.worker_role
    return Reconciler(toolbox(), publisher(), worker=worker, role=role, pid=os.getpid())


def _fetch_loop(_worker: str) -> Background:
    from workers.fetch_loop import FetchLoop  # noqa: PLC0415  half a second that only this role needs

    return FetchLoop(_settings, ring)


add_background(app, "Reconcile", _reconciler)
if _settings.worker_role in {"crawl", "all"}:
    add_background(app, "Fetch", _fetch_loop)
