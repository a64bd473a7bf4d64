"""The display of what research memory answered: each piece of evidence with its place, then what is missing."""

from collections.abc import Iterator

from signal_search.citations.works import one_line
from signal_search.cli.terminal import Line
from signal_search.contracts.memory_result import MemoryResult
from signal_search.contracts.research_result import ResearchResult

_SHOWN = 200  # characters of a piece of evidence


def research_lines(result: ResearchResult) -> Iterator[Line]:
    """Yield the lines."""
    for each in result.answer.evidence:
        place = f"{each.source_ref}:{each.locator or ''}".rstrip(":")
        yield Line(one_line(place))
        yield Line(f"    {one_line(each.content)[:_SHOWN]}")
    for said in (*result.answer.rejections, *result.answer.degradations):
        yield Line(said)


def memory_lines(result: MemoryResult) -> Iterator[Line]:
    """Yield what came of a command: the refusal, or the names and values of what was answered."""
    refusal = result.answer.refusal
    if refusal is not None:
        yield Line(f"{refusal.code}: {refusal.message}")
    for name, value in result.answer.value.items():
        yield Line(f"{name}: {one_line(str(value))[:_SHOWN]}")
