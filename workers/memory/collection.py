"""Test collections: documents, questions and which answer which, read from a folder of three files."""

from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct
from signal_search.errors import Invalid

_Row = TypeVar("_Row")


class _Document(Struct):
    id: str = msgspec.field(name="_id")
    text: str = ""
    title: str | None = None


class _Question(Struct):
    id: str = msgspec.field(name="_id")
    text: str = ""


class Collection(Struct, frozen=True, kw_only=True):
    """Texts by id, questions by id, and grades (above 0: relevant) of documents by question."""

    documents: dict[str, str]
    questions: dict[str, str]
    grades: dict[str, dict[str, int]]


def read_collection(folder: Path) -> Collection:
    """Return the collection of `corpus.jsonl`, `queries.jsonl` and `qrels.tsv` (question, document, grade).

    A line of headings and the second column of TREC's own form are read over.

    Raises:
        Invalid: a file is missing or not of this form; field `dir`.
    """
    try:
        documents = _rows(folder / "corpus.jsonl", _Document)
        questions = _rows(folder / "queries.jsonl", _Question)
        grades = _grades(folder / "qrels.tsv")
    except (OSError, msgspec.MsgspecError, UnicodeError, ValueError) as error:
        raise Invalid("The folder is no test collection.", field="dir") from error
    return Collection(
        documents={each.id: f"{each.title or ''}\n{each.text}".strip() for each in documents},
        questions={each.id: each.text for each in questions},
        grades=grades,
    )


def _rows(path: Path, kind: type[_Row]) -> list[_Row]:
    return [
        msgspec.json.decode(line, type=kind)
        for line in path.read_bytes().split(b"\n")
        if line.strip()
    ]


def _grades(path: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines()):
        cells = line.split("\t") if "\t" in line else line.split()
        if number == 0 and cells and not cells[-1].strip().lstrip("-").isdigit():
            continue
        if len(cells) >= 3:
            found.setdefault(cells[0], {})[cells[-2]] = int(cells[-1])
    return found
