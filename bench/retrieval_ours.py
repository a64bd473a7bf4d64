"""The product's own index over one collection, in a process of its own: `python -m bench.retrieval_ours FOLDER`.

`--vectors` measures the vector channel and the fusion too, with the model of `research.vector_model` where its extra is
installed: minutes for many texts.
"""

import json
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from infra.clock import SystemClock
from infra.settings import load
from workers.memory.collection import Collection, read_collection
from workers.memory.embedders import embedder_of
from workers.memory.evaluation import SCOPE, evaluate_retrieval
from workers.memory.recall import Bm25Tool


def run(folder: Path, *, vectors: bool) -> dict[str, Any]:
    collection = read_collection(folder)
    embedder = embedder_of(load().research.vector_model) if vectors else None
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as scratch:
        report = evaluate_retrieval(collection, Path(scratch), SystemClock(), embedder, depth=50)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        spent = alone(collection, Path(scratch))
    return {
        **msgspec.to_builtins(report),
        "memory_mib": round(memory / 1024, 1),
        "index_query_ms_p50": spent,
    }


def alone(collection: Collection, folder: Path) -> float:
    """The index without router and masking, which is what the peers are: 100 hits with their texts."""
    clock, tool = SystemClock(), Bm25Tool(folder, limit=100)
    spent = []
    for text in collection.questions.values():
        began = clock.monotonic()
        tool.retrieve(text, SCOPE)
        spent.append((clock.monotonic() - began) * 1000)
    return round(sorted(spent)[len(spent) // 2], 3)


if __name__ == "__main__":
    print(json.dumps(run(Path(sys.argv[1]), vectors="--vectors" in sys.argv)))
