"""A result for human eyes: the answer first, then what it rests on, then why the search ended. Pure."""

from collections.abc import Iterable, Iterator

from signal_search.citations.works import date_parts, iso_date, one_line
from signal_search.cli.terminal import ANSWERED, EXHAUSTED, FAILED, UNREACHED, Line
from signal_search.cli.texts import Texts
from signal_search.contracts.finding import Finding, Verdict
from signal_search.contracts.result import CitedSource, Result, SourceOutcome, StopReason

_MARKS = {
    Verdict.TRUE: ("✓", "green"),
    Verdict.FALSE: ("✗", "red"),
    Verdict.UNCERTAIN: ("?", "yellow"),
}


def ending(result: Result) -> int:
    """Return the exit code of a result: 0 answered, 3 exhausted, 4 no source reached, 1 cancelled."""
    if result.stop.reason is StopReason.NO_SOURCE_REACHED:
        return UNREACHED
    if result.stop.reason is StopReason.CANCELLED:
        return FAILED
    return EXHAUSTED if result.exhausted else ANSWERED


def lines_of(result: Result, texts: Texts) -> Iterator[Line]:
    """Yield the lines of the whole display."""
    yield Line(result.answer.strip() or texts("no_answer"))
    yield from _section(texts("findings"), _findings(result))
    yield from _section(texts("conflicts"), _conflicts(result))
    yield from _section(texts("uncertain"), _uncertain(result))
    yield from _section(texts("sources"), _sources(result, texts))
    yield from _section(
        texts("warnings"), (Line(f"  {one_line(each)}") for each in result.warnings)
    )
    yield from _outcomes(result, texts)
    yield from _trust(result, texts)


def _section(heading: str, lines: Iterable[Line]) -> Iterator[Line]:
    body = list(lines)
    if body:
        yield from (Line(""), Line(heading, "bold"), *body)


def _findings(result: Result) -> Iterator[Line]:
    for finding in result.findings:
        yield _finding(finding)
        for claim in finding.claims:
            mark, style = _MARKS[claim.verdict]
            yield Line(f"      {mark} {one_line(claim.text)} — {one_line(claim.reason)}", style)


def _finding(finding: Finding) -> Line:
    numbers = "".join(f"[{number}]" for number in finding.citations)
    label = f" — {one_line(finding.label)}" if finding.label else ""
    return Line(f"  • {one_line(finding.text)} {numbers} ({finding.confidence:.2f}){label}")


def _conflicts(result: Result) -> Iterator[Line]:
    for each in result.conflicts:
        yield Line(f"  {one_line(each.topic)}")
        sides = ((each.stronger, each.stronger_weight), (each.weaker, each.weaker_weight))
        for span, weight in sides:
            yield Line(f"      {weight:.2f}  {one_line(span.quote)} <{one_line(span.url)}>")


def _uncertain(result: Result) -> Iterator[Line]:
    for each in result.uncertainties:
        yield Line(f"  ? {one_line(each.text)} — {one_line(each.reason)}", "yellow")


def _sources(result: Result, texts: Texts) -> Iterator[Line]:
    weights = {score.doc_id: score.weighted for score in result.scores}
    for source in result.sources:
        yield from _source(source, weights.get(source.doc_id), texts)


def _source(source: CitedSource, weight: float | None, texts: Texts) -> Iterator[Line]:
    facts = [
        one_line(source.source_type),
        iso_date(date_parts(source.published)),
        texts("weight", value=weight) if weight is not None else "",
        texts("retracted") if source.retracted else "",
    ]
    yield Line(f"  [{source.number}] {one_line(source.title)} ({', '.join(filter(None, facts))})")
    yield Line(f"      {one_line(source.url)}", "dim")


def _outcomes(result: Result, texts: Texts) -> Iterator[Line]:
    nothing = result.stop.reason is StopReason.NO_SOURCE_REACHED
    shown = [
        each
        for each in result.source_outcomes
        if each.reason or nothing or each.state == "filtered"
    ]
    if shown:
        yield from (Line(""), Line(texts("unreached" if nothing else "troubled"), "bold red"))
        yield from (Line(f"  {_outcome(each, texts)}", "red") for each in shown)


def _outcome(outcome: SourceOutcome, texts: Texts) -> str:
    code = outcome.reason or outcome.state
    reason = texts.lookup(f"reason.{code}", one_line(code))
    detail = f" ({one_line(outcome.detail)})" if outcome.detail else ""
    until = f"; {texts('until', until=one_line(outcome.until))}" if outcome.until else ""
    return f"{one_line(outcome.source_id)}: {reason}{detail}{until}"


def _trust(result: Result, texts: Texts) -> Iterator[Line]:
    reasons = "; ".join(one_line(reason) for reason in result.confidence_reasons)
    yield Line("")
    yield Line(texts("confidence", value=result.confidence) + (f" — {reasons}" if reasons else ""))
    stop = result.stop
    yield Line(texts("stopped", text=one_line(stop.text), reason=stop.reason.value))
    if result.exhausted:
        yield Line(texts("exhausted"), "yellow")
    spent = result.usage
    yield Line(
        texts(
            "spent",
            tokens=spent.tokens,
            counting=one_line(spent.counting),
            calls=spent.calls,
            fetches=spent.fetches,
            bytes=spent.bytes,
            rounds=spent.rounds,
        )
    )
    yield Line(texts("job", job_id=one_line(result.job_id), tier=result.tier_used.value), "dim")
