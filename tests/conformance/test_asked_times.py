"""Of which time an answer is, on questions that people asked of Chinese articles (COLLECTIONS_DIR/cmrc2018).

Each question is about one article and has the words that answer it there. The sentence with them has to be of the time
that the question names; asked of another year, hardly any of them may be.
"""

import json
import os
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from scoring.asked_time import asked_time, is_of_time
from scoring.text import sentences
from tests.fakes.builders import a_document

ROOT = Path(__file__).parents[2]
FILE = Path(os.environ.get("COLLECTIONS_DIR", ROOT / "../shared/data/ir")) / "cmrc2018/cmrc2018_dev.json"  # fmt: skip
READ_ON = date(2018, 1, 1)
_YEAR = re.compile(r"(?<!\d)(?:1\d|20)\d\d(?=年)")


class Case(NamedTuple):
    """A question, the article, and where in it the answer stands (a character)."""

    question: str
    text: str
    at: int


def cases() -> Iterator[Case]:
    """Every question that names a time, where its answer stands in the article."""
    articles = json.loads(FILE.read_text(encoding="utf-8"))["data"]
    for part in (each for article in articles for each in article["paragraphs"]):
        for each in part["qas"]:
            if asked_time(each["question"], READ_ON) is not None:
                yield Case(each["question"], part["context"], each["answers"][0]["answer_start"])


def is_answered(case: Case, question: str) -> bool:
    """Whether the sentence with the answer is of the time that a question names; articles have no date here."""
    asked = asked_time(question, READ_ON)
    assert asked is not None
    byte = len(case.text[: case.at].encode())
    page: Any = a_document(title="", text=case.text)
    start = max(each.start for each in sentences(case.text) if each.start <= byte)
    return is_of_time(asked, page, start) is True


def later(question: str) -> str:
    """The question, of ten years later; of more than one year, each of them."""
    return _YEAR.sub(lambda year: str(int(year[0]) + 10), question)


@pytest.mark.skipif(not FILE.is_file(), reason="no labelled collections: set COLLECTIONS_DIR")
def test_answers_are_of_the_asked_time_and_not_of_another() -> None:
    found = list(cases())
    right = sum(is_answered(each, each.question) for each in found)
    moved = [each for each in found if _YEAR.search(each.question)]
    wrong = sum(is_answered(each, later(each.question)) for each in moved)
    print(f"of the time: {right} of {len(found)}; of another: {wrong} of {len(moved)}")
    assert len(found) > 200
    assert right / len(found) >= 0.92
    assert wrong / len(moved) <= 0.12
