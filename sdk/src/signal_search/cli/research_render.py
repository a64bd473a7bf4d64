"""The display of what research memory answered: each piece of evidence with its place, then what is missing."""

from collections.abc import Iterator

from signal_search.citations.works import one_line
from signal_search.cli.terminal import Line
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
