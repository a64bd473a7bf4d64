"""A real worker whose tries of a step take an hour, or break: for tests of what becomes of a step at work.

Run as `celery -A tests.fakes.slow_worker worker`; SLOW_STEP names the task, SLOW_NOTE a file that says that it began. With
SLOW_BREAKS set a try breaks at once instead.
"""

import os
import threading
from pathlib import Path

from workers import tasks
from workers.pipeline.attempt import Next, Step
from workers.toolbox import Toolbox
from workers.worker import app

__all__ = ["app"]

_HOUR_S = 3600.0
_name = os.environ["SLOW_STEP"]
_real = tasks.WORK[_name]


def _slow(tools: Toolbox, step: Step) -> Next:
    Path(os.environ["SLOW_NOTE"]).write_text(step.id)
    if "SLOW_BREAKS" in os.environ:
        raise ValueError
    threading.Event().wait(_HOUR_S)
    return _real(tools, step)


tasks.WORK[_name] = _slow
