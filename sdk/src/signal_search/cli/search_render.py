"""A search's result as text: the synthesis where there is one, hits with sources and scores, then what is missing."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import UNSET

from signal_search.citations.works import one_line
from signal_search.cli.terminal import ANSWERED, EXHAUSTED, UNREACHED, Line
from signal_search.cli.texts import Texts
from signal_search.contracts.result import Stop, StopReason
from signal_search.contracts.search_result import SearchHit, SearchResult, SurveyResult

_SNIPPET_CHARS = 240


def search_ending(result: SearchResult | SurveyResult) -> int:
    """Return the exit code: 0 answered, 3 its time was over first, 4 no source could be reached."""
    if result.stop.reason is StopReason.NO_SOURCE_REACHED:
        return UNREACHED
    return EXHAUSTED if result.stop.exhausted else ANSWERED


def search_lines(result: SearchResult, texts: Texts, *, top: int) -> Iterator[Line]:
    """Yield the lines of a search's display, at most `top` hits of each list."""
    if result.answer is not UNSET and result.answer:
        yield from (Line(result.answer.strip()), Line(""))
    if result.conclusion:
        yield from (Line(result.conclusion.strip()), Line(""))
    if isinstance(result.results, dict):
        for source, hits in result.results.items():
            yield Line(one_line(source), "bold")
            yield from _hits(hits[:top], texts)
    else:
        yield from _shown(result, texts, top)
    if result.undated:
        yield from (Line(""), Line(texts("undated", count=len(result.undated)), "bold"))
        yield from _hits(result.undated[:top], texts)
    yield from _missing(result.errors, result.warnings, texts)
    yield from _about(result.job_id, result.stop, texts)


def survey_lines(result: SurveyResult, texts: Texts, *, top: int) -> Iterator[Line]:
    """Yield the lines of a survey's display: the papers, then which side found how many."""
    yield from _hits(result.hits[:top], texts)
    yield Line("")
    for side in result.queries:
        yield Line(texts("side", query=one_line(side.query), kept=side.kept, found=side.found))
    yield from _missing(result.errors, result.warnings, texts)
    yield from _about(result.job_id, result.stop, texts)


def _shown(result: SearchResult, texts: Texts, top: int) -> Iterator[Line]:
    if not result.hits:
        yield Line(texts("no_hits"))
    elif top >= len(result.hits):
        yield Line(result.synthesis.text)
    else:
        yield from _hits(result.hits[:top], texts)


def _hits(hits: Sequence[SearchHit], texts: Texts) -> Iterator[Line]:
    for number, hit in enumerate(hits, 1):
        score = f" ⭐{hit.score:.2f}" if isinstance(hit.score, int | float) else ""
        date = f" {hit.published_date}" if hit.published_date else ""
        label = f" {texts('retracted')}" if hit.retracted else ""
        title = one_line(hit.title) or one_line(hit.url)
        yield Line(f"{number}. {title}{label} `[{one_line(hit.source)}]`{date}{score}")
        yield Line(f"   {one_line(hit.url)}", "dim")
        if hit.snippet:
            yield Line(f"   {_cut(one_line(hit.snippet))}")


def _cut(text: str) -> str:
    return text if len(text) <= _SNIPPET_CHARS else f"{text[:_SNIPPET_CHARS].rstrip()}…"


def _missing(errors: Mapping[str, str], warnings: Sequence[str], texts: Texts) -> Iterator[Line]:
    if errors:
        yield from (Line(""), Line(texts("troubled"), "bold red"))
        yield from (
            Line(f"  {one_line(name)}: {one_line(why)}", "red") for name, why in errors.items()
        )
    yield from (Line(f"  {one_line(each)}", "yellow") for each in warnings)


def _about(job_id: str, stop: Stop, texts: Texts) -> Iterator[Line]:
    yield Line("")
    yield Line(texts("stopped", text=one_line(stop.text), reason=stop.reason.value), "dim")
    yield Line(one_line(job_id), "dim")
