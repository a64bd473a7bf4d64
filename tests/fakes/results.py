"""A result with everything in it, and a bare one: what the exports, the client and the command line are shown."""

from msgspec import structs
from signal_search.contracts.budget import Usage
from signal_search.contracts.document import Author
from signal_search.contracts.finding import (
    Claim,
    Conflict,
    Finding,
    Span,
    Uncertainty,
    Verdict,
)
from signal_search.contracts.query import Intent, Tier
from signal_search.contracts.result import CitedSource, Result, SourceOutcome, Stop, StopReason
from signal_search.contracts.score import Component, SourceScore


def a_source(number: int = 1, **changes: object) -> CitedSource:
    """Return a plain web page as a source, with changes."""
    plain = CitedSource(
        number=number,
        doc_id=f"{number:032x}",
        url=f"https://example.org/page/{number}",
        title="Write-ahead logging",
        source_id="site:https://example.org/",
        site="example.org",
        source_type="vendor",
    )
    return structs.replace(plain, **changes)


ARTICLE = a_source(
    1,
    url="https://doi.org/10.1175%2F1520-0485(1996)026",
    title="The Ekman layer & 50% of $US_dollars: {a} DNA study",
    site="ametsoc.org",
    source_type="academic",
    published="1996-12-01",
    date_kind="record",
    fetched_at="2026-09-21T14:13:20Z",
    authors=(
        Author(family="van der Berg", given="Jan"),
        Author(literal="Organization for Economic Cooperation and Development"),
        Author(family="张", given="三"),
    ),
    container="Journal of Physical Oceanography",
    publisher="Simon and Schuster",
    volume="26",
    issue="12",
    pages="2712–2735",
    doi="10.1175/1520-0485(1996)026<2712:TEOIWU>2.0.CO;2",
    work_type="journal-article",
    language="en",
)
PREPRINT = a_source(
    2,
    url="https://arxiv.org/abs/1706.03762",
    title="Attention Is All You Need",
    site="arxiv.org",
    source_type="academic",
    published="2017-06",
    authors=(Author(family="Vaswani", given="Ashish"), Author(family="Shazeer", given="Noam")),
    arxiv_id="1706.03762",
    work_type="preprint",
    retracted=True,
)
CHINESE = a_source(
    3,
    url="https://www.stats.gov.cn/sj/zxfb/202401/t20240117_1946624.html",
    title="2023年国民经济回升向好",
    site="stats.gov.cn",
    source_type="gov",
    published="2024-01-17",
    authors=(Author(literal="国家统计局"),),
    language="zh",
)


def a_score(source: CitedSource, weighted: float) -> SourceScore:
    """Return a score of this weight."""
    half = Component(value=0.5, reason="even")
    return SourceScore(
        doc_id=source.doc_id,
        url=source.url,
        credibility=half,
        relevance=half,
        recency=half,
        authority=half,
        bias=half,
        weighted=weighted,
    )


def a_stop(reason: StopReason = StopReason.SATURATED, *, exhausted: bool = False) -> Stop:
    """Return a decision to stop."""
    return Stop(
        reason=reason,
        text="sources repeat themselves",
        exhausted=exhausted,
        coverage=1.0,
        saturation=0.9,
        rounds=2,
    )


def a_result(**changes: object) -> Result:
    """Return a full answer from three sources, with changes."""
    span = Span(doc_id=ARTICLE.doc_id, url=ARTICLE.url, start=0, end=9, quote="WAL is on")
    other = Span(doc_id=PREPRINT.doc_id, url=PREPRINT.url, start=4, end=14, quote="WAL is off")
    full = Result(
        job_id="job_0001",
        query="What is *WAL*?",
        answer="WAL appends changes to a log [1].\n\n<script>alert(1)</script> See <https://example.org/a>.",
        findings=(
            Finding(
                text="WAL appends to a log",
                question_id="q1",
                question="What is WAL?",
                claims=(
                    Claim(
                        text="WAL appends",
                        verdict=Verdict.TRUE,
                        reason="written there",
                        supporting=(span,),
                    ),
                    Claim(text="WAL is slow", verdict=Verdict.FALSE, reason="refuted"),
                    Claim(text="WAL is new", verdict=Verdict.UNCERTAIN, reason="no date"),
                ),
                citations=(1, 3),
                confidence=0.8,
            ),
        ),
        sources=(ARTICLE, PREPRINT, CHINESE),
        scores=(a_score(ARTICLE, 0.8125), a_score(PREPRINT, 0.5), a_score(CHINESE, 0.75)),
        confidence=0.76,
        confidence_reasons=("two independent sites agree",),
        token_used=1200,
        usage=Usage(tokens=1200, calls=3, fetches=5, bytes=40960, rounds=2),
        exhausted=False,
        tier_used=Tier.L1,
        intent=Intent.FACT,
        language="en",
        stop=a_stop(),
        faithfulness=1.0,
        claims_true=1,
        claims_total=3,
        uncertainties=(
            Uncertainty(text="Since when", reason="no source says", url="https://example.org/b c"),
        ),
        conflicts=(
            Conflict(
                topic="default",
                kind="value",
                stronger=span,
                weaker=other,
                stronger_weight=0.81,
                weaker_weight=0.5,
            ),
        ),
        source_outcomes=(SourceOutcome(source_id="arxiv", state="ok", documents=1, fetches=1),),
        warnings=("one source is a preprint",),
        degradations=(),
        trace=(),
    )
    return structs.replace(full, **changes)


def nothing_reached() -> Result:
    """Return the result of a job whose sources all failed."""
    return a_result(
        answer="",
        findings=(),
        sources=(),
        scores=(),
        confidence=0.0,
        confidence_reasons=(),
        uncertainties=(),
        conflicts=(),
        warnings=(),
        claims_true=0,
        claims_total=0,
        stop=a_stop(StopReason.NO_SOURCE_REACHED),
        source_outcomes=(
            SourceOutcome(
                source_id="arxiv",
                state="failed",
                reason="source_unreachable",
                detail="connection refused",
            ),
        ),
    )
