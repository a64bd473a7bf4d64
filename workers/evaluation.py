"""Labelled files in, figures out: the reading side of `eval`; the arithmetic is in scoring."""

from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from signal_search.contracts.query import Intent, Tier
from signal_search.errors import Invalid

from scoring.claims.evaluation import Report, evaluate
from scoring.claims.rules import VerifyRules
from workers.planning.evaluation import PlanningCase, PlanningReport, evaluate_planning


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


# --- planning ---------------------------------------------------------------------------------------------------------


class _GoldenRow(Struct, frozen=True):
    """A row of the design document's golden set: one tier and one intent are right."""

    query: str
    expected_tier: Tier
    intent: Intent


class _PlanningFile(Struct, frozen=True):
    cases: tuple[PlanningCase, ...] = ()
    rows: tuple[_GoldenRow, ...] = ()


def evaluate_plans(path: Path) -> dict[str, PlanningReport]:
    """Return tiers and intents of a file of labelled questions; a case without a set belongs to one of the file's name.

    Read are `{"cases": [{"q", "tier": [...], "intent": [...], "set"}]}` and the golden set's `{"rows": [...]}`.

    Raises:
        Invalid: the file is no such document, or has no question.
    """
    try:
        read = msgspec.json.decode(path.read_bytes(), type=_PlanningFile)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Invalid("The file is no list of labelled questions.", field="file") from error
    golden = [PlanningCase(each.query, (each.expected_tier,), (each.intent,)) for each in read.rows]
    cases = [each if each.set else replace(each, set=path.stem) for each in (*read.cases, *golden)]
    if not cases:
        raise Invalid("The file has no labelled question.", field="file")
    return evaluate_planning(cases)
