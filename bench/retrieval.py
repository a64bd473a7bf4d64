"""Retrieval from test collections: quality, time and memory, beside SQLite's FTS5, bm25s and tantivy in one run.

    python -m bench.retrieval [--dir FOLDER ...] [--vectors]

Each folder has corpus.jsonl, queries.jsonl and qrels.tsv; without one, the three of RETRIEVAL_DIR. The peers stand in a
folder of their own that is removed afterwards; every engine is one process, one after the other, on the same files, and
the same function gives the quality of all.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench import report
from workers.memory.collection import Collection, read_collection
from workers.memory.metrics import ndcg

HERE = Path(__file__).parent
PEERS = ("fts5", "bm25s", "tantivy")
DEFAULT = Path(os.environ.get("RETRIEVAL_DIR", HERE.parent / "../shared/data/ir"))
INSTALL_S, RUN_S = 240.0, 1800.0
# quality.md's rows, and the fusion's where the vector extra is installed.
BARS = {"cranfield": 0.38, "scifact": 0.68, "cmrc2018": 0.98}
HYBRID_BARS = {"cranfield": 0.43, "scifact": 0.71}
VISIBLE_MS = 10.0


def printed(command: list[str], within_s: float) -> dict[str, Any]:
    done = subprocess.run(
        command, stdout=subprocess.PIPE, timeout=within_s, check=True, cwd=HERE.parent
    )
    found: dict[str, Any] = json.loads(done.stdout or b"{}")
    return found


def quality(collection: Collection, found: dict[str, list[str]]) -> float:
    graded = {
        name: each for name, each in collection.grades.items() if any(g > 0 for g in each.values())
    }
    asked = [name for name in collection.questions if name in graded]
    return round(statistics.fmean(ndcg(found[name], graded[name], 10) for name in asked), 4)


def peers(folder: Path, python: str) -> dict[str, Any]:
    collection = read_collection(folder)
    rows: dict[str, Any] = {}
    for peer in PEERS:
        made = printed([python, str(HERE / "retrieval_peers.py"), peer, str(folder)], RUN_S)
        rows[peer] = {"ndcg_at_10": quality(collection, made.pop("found")), **made}
        tell(f"{folder.name} {peer}", rows[peer])
    return rows


def ours(folder: Path, *, vectors: bool) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.retrieval_ours", str(folder)]
    made = printed([*command, *(["--vectors"] if vectors else [])], RUN_S)
    tell(f"{folder.name} ours", made)
    return made


def rows_of(name: str, made: dict[str, Any]) -> list[report.Row]:
    channels, visible = made["ours"]["channels"], made["ours"]["added_visible_ms"]
    n = channels["bm25"]["n"]
    best = max(each["ndcg_at_10"] for each in made["peers"].values())
    figure = channels["bm25"]["ndcg_at_10"]
    rows = [
        report.row(
            f"{name}: nDCG@10 by words, beside the best peer",
            figure,
            n=n,
            peer=best,
            bar=f">= {BARS.get(name, best)}",
        ),
        report.row(
            f"{name}: ms until an added text is found", visible, n=1, bar=f"<= {VISIBLE_MS}"
        ),
    ]
    if "hybrid" in channels:
        figure, bar = channels["hybrid"]["ndcg_at_10"], HYBRID_BARS.get(name, 0)
        rows.append(
            report.row(f"{name}: nDCG@10 by words and vectors", figure, n=n, bar=f">= {bar}")
        )
    return rows


def tell(name: str, figures: dict[str, Any]) -> None:
    print(name, json.dumps(figures), file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval", description=__doc__)
    parser.add_argument("--dir", type=Path, action="append", help="a collection; may be repeated")
    parser.add_argument("--vectors", action="store_true")
    parser.add_argument("--quick", action="store_true", help="the first collection alone")
    asked = parser.parse_args()
    folders = asked.dir or sorted(each.parent for each in DEFAULT.glob("*/qrels.tsv"))
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="ss-peers-") as place:
        python = str(Path(place) / "bin" / "python")
        install = [python, "-m", "pip", "install", "-q", "-r", str(HERE / "retrieval_peers.txt")]
        for command in ([sys.executable, "-m", "venv", place], install):
            subprocess.run(command, stdout=subprocess.DEVNULL, timeout=INSTALL_S, check=True)
        for folder in folders[:1] if asked.quick else folders:
            figures[folder.name] = {
                "ours": ours(folder.resolve(), vectors=asked.vectors),
                "peers": peers(folder.resolve(), python),
            }
    rows = [each for name, made in figures.items() for each in rows_of(name, made)]
    print(json.dumps({"rows": rows, "figures": figures}))


if __name__ == "__main__":
    main()
