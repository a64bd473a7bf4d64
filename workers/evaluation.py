"""Labelled files in, figures out: the reading side of `eval`; the arithmetic is in scoring."""

from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from signal_search.contracts.query import Intent, Tier
from signal_search.errors import Invalid

from scoring.claims.evaluation import Report, evaluate
from scoring.claims.rules import VerifyRules
from scoring.simulated_search import PAGE, ROUNDS, Search
from scoring.simulated_sources import SimulatedSources
from scoring.stop_rule import StopRules
from scoring.stop_simulation import StopReport, evaluate_stop
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


# --- stopping ---------------------------------------------------------------------------------------------------------

_CORPUS, _QUERIES, _LABELS = "corpus.jsonl", "queries.jsonl", "qrels.tsv"
_TITLE_CHARACTERS = 80


class _Text(Struct, frozen=True, rename={"id": "_id"}):
    id: str
    text: str
    title: str = ""


def evaluate_stops(folder: Path, figures: dict[str, object]) -> dict[str, StopReport]:
    """Return how the stop rule does on a collection, or on each one in a folder of them.

    A collection is a folder with corpus.jsonl (`_id`, `title`, `text`), queries.jsonl (`_id`, `text`) and qrels.tsv
    (question, document, grade; above 0 is useful).

    Raises:
        Invalid: there is no collection, or a file of one is none of these.
    """
    found = sorted(each.parent for each in folder.glob(f"*/{_CORPUS}"))
    folders = [folder] if (folder / _CORPUS).is_file() else found
    if not folders:
        raise Invalid("There is no collection in that folder.", field="dir")
    rules = msgspec.convert(figures, StopRules)
    return {each.name: evaluate_stop(_searches(each), rules) for each in folders}


def _searches(folder: Path) -> list[Search]:
    try:
        texts, questions = _texts(folder / _CORPUS), _texts(folder / _QUERIES)
        useful = _useful(folder / _LABELS)
    except (OSError, ValueError, msgspec.DecodeError) as error:
        raise Invalid(f"{folder.name} is no collection that can be read.", field="dir") from error
    sources = SimulatedSources(
        [each.title or each.text[:_TITLE_CHARACTERS] for each in texts],
        [each.text for each in texts],
    )
    return [
        Search(
            question_id=each.id,
            orders=tuple(
                tuple(texts[position].id for position in order)
                for order in sources.orders(each.text, PAGE * ROUNDS)
            ),
            useful=useful[each.id],
        )
        for each in questions
        if each.id in useful
    ]


def _texts(path: Path) -> list[_Text]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [msgspec.json.decode(line, type=_Text) for line in lines if line.strip()]


def _useful(path: Path) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        question, *_, document, grade = line.split("\t")
        if grade.strip().lstrip("-").isdecimal() and int(grade) > 0:
            found.setdefault(question, set()).add(document)
    return {question: frozenset(documents) for question, documents in found.items()}
