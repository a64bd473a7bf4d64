"""An adaptive search's page as text: what is worth reading, what became of each keyword, what is missing."""

from collections.abc import Iterator

from signal_search.citations.works import one_line
from signal_search.cli.terminal import ANSWERED, EXHAUSTED, FAILED, UNREACHED, Line
from signal_search.cli.texts import Texts
from signal_search.contracts.adaptive_result import AdaptiveResult, KeywordProgress

_FAILURES = frozenset({"not_configured", "jev_unavailable"})


def adaptive_ending(page: AdaptiveResult) -> int:
    """Return the exit code: 0 every keyword is closed, 1 no judge, 3 something ended it first, 4 no source."""
    if page.stop_reason == "keyword_queue_empty":
        return ANSWERED
    if page.stop_reason == "no_engines":
        return UNREACHED
    if page.stop_reason in _FAILURES and not page.results:
        return FAILED
    return EXHAUSTED


def adaptive_lines(page: AdaptiveResult, texts: Texts) -> Iterator[Line]:
    """Yield the lines of a page."""
    for number, each in enumerate(page.results, 1):
        direction = f" {each.direction_match:.2f}" if each.direction_match is not None else ""
        title = one_line(each.title) or one_line(each.url)
        yield Line(f"{number}. {title} [{one_line(each.kind)}] {each.value_score:.2f}{direction}")
        yield Line(f"   {one_line(each.url)}", "dim")
        yield Line(f"   {one_line(each.description)}")
    yield from (Line(f"  {_keyword(each, texts)}") for each in page.keyword_progress)
    yield Line(_sum(page, texts), "bold")
    if page.next_cursor:
        yield Line(texts("next_page", cursor=page.next_cursor), "dim")
    yield from (Line(f"  {one_line(each)}", "yellow") for each in page.warnings)
    if isinstance(page.job_id, str):
        yield Line(one_line(page.job_id), "dim")


def _keyword(each: KeywordProgress, texts: Texts) -> str:
    return texts(
        "keyword",
        target=one_line(each.target_id or each.canonical_id),
        keyword=one_line(each.keyword),
        status=texts(f"keyword.{each.status}"),
        count=each.distinct_evidence,
    )


def _sum(page: AdaptiveResult, texts: Texts) -> str:
    return texts(
        "adaptive_sum",
        shown=len(page.results),
        total=page.total_results,
        reason=page.stop_reason,
        sufficient=texts("sufficient" if page.retrieval_sufficient else "insufficient"),
    )
