"""Labelled files in, figures out: the reading side of `eval`; the arithmetic is in scoring."""

from pathlib import Path

import msgspec

from scoring.claims.evaluation import Report, evaluate
from scoring.claims.rules import VerifyRules


def evaluate_claims(folder: Path, most: int, thresholds: dict[str, object]) -> dict[str, Report]:
    """Return the figures of every `*.jsonl` under a folder, each file a set of its name; at most `most` rows each."""
    rows: list[dict[str, str]] = []
    for path in sorted(folder.rglob("*.jsonl")):
        lines = path.read_text(encoding="utf-8").splitlines()
        read = [msgspec.json.decode(line, type=dict[str, object]) for line in lines if line.strip()]
        chosen = read[:most] if most else read
        rows += [_row(each, path.stem) for each in chosen]
    return evaluate(rows, msgspec.convert(thresholds, VerifyRules))


def _row(read: dict[str, object], name: str) -> dict[str, str]:
    return {"set": name, **{key: str(value) for key, value in read.items()}}
