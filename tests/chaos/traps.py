"""One trap in the processes of a stack: whoever passes a place of the code stands still there until it is killed."""

import json
import os
from pathlib import Path

from tests.chaos.lane import SHIM

_CLOCK_BYTES = 8  # of a shift of no seconds, which the shim reads too


class Traps:
    """Places before functions, each `module:name`. A stack that is started with `environment` can be trapped at them."""

    def __init__(self, folder: Path, *functions: str) -> None:
        folder.mkdir()
        (folder / "points.json").write_text(json.dumps(functions))
        for host in ("gateway", "workers"):
            (folder / f"clock-{host}").write_bytes(bytes(_CLOCK_BYTES))
        self._folder = folder
        path = os.pathsep.join(filter(None, (str(SHIM), os.environ.get("PYTHONPATH", ""))))
        self.environment = {"PYTHONPATH": path, "CHAOS_FOLDER": str(folder)}

    def arm(self, function: str) -> None:
        """Let the next process that comes to this function stand still before it."""
        wanted = {"place": f"before {function}", "turn": 1, "not_empty": False, "action": "stand"}
        draft = self._folder / "armed.new"
        draft.write_text(json.dumps(wanted))
        draft.rename(self._folder / "armed")

    def has_sprung(self) -> bool:
        return (self._folder / "report").exists()
