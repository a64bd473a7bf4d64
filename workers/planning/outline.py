"""A plan's sub-questions as a text that a person can edit, and that text read back. Pure.

One numbered line is one sub-question. `(contrary)` or `（反面）` behind it marks the one that looks for the other side;
`(after 1)` or `（在 1 之后）` one that waits for another. Every other line is a remark.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace
from signal_search.contracts.plan import SubQuestion

from workers.planning.decompose import Decomposition
from workers.planning.language import has_han
from workers.planning.spoken import plain

OUTLINE_NOTE = "outline: as the caller confirmed it"
UNREADABLE_NOTE = "outline: the caller's text has no sub-question; ours was used"

_LONGEST = 500  # characters of one sub-question
_ITEM = re.compile(r"^\s{0,8}(?:(\d{1,3})[.)、．]|[-*+])\s*(\S.*)$")
_CONTRARY = re.compile(r"\s*[(（]\s*(?:contrary|反面)\s*[)）]", re.IGNORECASE)
_AFTER = re.compile(
    r"\s*[(（]\s*(?:after\s+(\d{1,3})|在\s*(\d{1,3})\s*之后)\s*[)）]", re.IGNORECASE
)


def write_outline(query: str, questions: Sequence[SubQuestion]) -> str:
    """Return the sub-questions as Markdown, one numbered line each, in their order."""
    numbers = {each.id: number for number, each in enumerate(questions, 1)}
    chinese = has_han(query)
    title = " ".join(query.split())
    lines = [f"# {title}", ""]
    lines += [
        f"{numbers[each.id]}. {' '.join(each.text.split())}{_marks(each, numbers, chinese=chinese)}"
        for each in questions
    ]
    return "\n".join(lines) + "\n"


def read_outline(text: str, known: Sequence[SubQuestion], most: int) -> Decomposition | None:
    """Return the decomposition that an edited outline stands for, None when there is no sub-question in it.

    `known` are the sub-questions that were shown: one whose text is unchanged keeps its dimension. At most `most` are
    kept; the note says how many were cut.
    """
    found = [each for each in _items(text) if each.text]
    kept = found[:most]
    if not kept:
        return None
    before = {" ".join(each.text.split()): each for each in known}
    questions = tuple(_question(at, each, before, len(kept)) for at, each in enumerate(kept, 1))
    cut = len(found) - len(kept)
    note = f"outline: {cut} sub-questions beyond the tier's width" if cut else OUTLINE_NOTE
    return Decomposition(pattern="outline", questions=questions, original=len(found), note=note)


def _marks(question: SubQuestion, numbers: dict[str, int], *, chinese: bool) -> str:
    marks = ""
    if question.role == "contrary":
        marks += "（反面）" if chinese else " (contrary)"
    for each in question.depends_on:
        if each in numbers:
            number = numbers[each]
            marks += f"（在 {number} 之后）" if chinese else f" (after {number})"
    return marks


def _items(text: str) -> Iterator[SubQuestion]:
    """Yield what each numbered line says; `depends_on` still holds numbers of lines."""
    for line in plain(text).split("\n"):
        item = _ITEM.match(line)
        if item is None:
            continue
        said = item[2]
        after = tuple(one or other for one, other in _AFTER.findall(said))
        bare = _AFTER.sub("", _CONTRARY.sub("", said))
        yield SubQuestion(
            id="",
            text=" ".join(bare.split())[:_LONGEST].strip(),
            role="contrary" if _CONTRARY.search(said) else "main",
            depends_on=after,
        )


def _question(at: int, item: SubQuestion, before: dict[str, SubQuestion], kept: int) -> SubQuestion:
    """Return an item under its new id; it can only wait for one that stands before it."""
    known = before.get(item.text)
    waits = tuple(f"q{int(each)}" for each in item.depends_on if 1 <= int(each) < at <= kept)
    dimension = known.dimension if known is not None else "default"
    if item.role == "contrary" and (known is None or known.role != "contrary"):
        dimension = "contrary"
    return replace(item, id=f"q{at}", depends_on=waits, dimension=dimension)
