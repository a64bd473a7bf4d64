"""The environment of the peers: made, used once, removed. Nothing of it comes near the product's own."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench import report

HERE = Path(__file__).parent
INSTALL_S, RUN_S = 120.0, 150.0


def peers(count: int) -> dict[str, Any]:
    """Return what the peers' process printed; empty when they could not be installed or did not end."""
    if report.is_least():
        return {}  # to fetch them takes longer than all else
    with tempfile.TemporaryDirectory(prefix="ss-peers-") as folder:
        python = str(Path(folder) / "bin" / "python")
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        try:
            _output([sys.executable, "-m", "venv", folder], INSTALL_S)
            _output([*pip, "-r", str(HERE / "expression_peers.txt")], INSTALL_S)
            printed = _output([python, "-m", "bench.expression_peers", str(count)], RUN_S)
        except (subprocess.SubprocessError, OSError) as error:
            report.tell("peers", {"failed": type(error).__name__})
            return {}
    found: dict[str, Any] = json.loads(printed)
    return found


def _output(command: list[str], within_s: float) -> bytes:
    done = subprocess.run(
        command,
        cwd=HERE.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=within_s,
        check=True,
    )
    return done.stdout
