"""From a stopped job to its result: pure, so that the same log gives the same bytes on any machine."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from signal_search.contracts.document import Document
from signal_search.contracts.finding import Conflict, Finding, Uncertainty
from signal_search.contracts.plan import Plan
from signal_search.contracts.result import CitedSource, Result
from signal_search.contracts.trace import Stopped
from signal_search.errors import Broken

from infra.clock import iso
from scoring.claims.conflicts import find_disagreements
from scoring.claims.evidence import prepare
from scoring.claims.faithfulness import faithfulness_of, uncertainties
from scoring.confidence import Confidence, ConfidenceParts, confidence_of
from scoring.rank import Ranked
from workers.pipeline.evidence import usage_of
from workers.pipeline.findings import Statement, find_statements
from workers.pipeline.outcomes import degradations_of, outcomes_of, warnings_of
from workers.pipeline.rules import Rules
from workers.pipeline.state import JobView, fold, retrieve_request
from workers.pipeline.trace import trace_of
from workers.synthesis.answer import write_answer

_MAX_CONFLICTS = 10


def publish(view: JobView, documents: Mapping[str, Document], rules: Rules) -> Result:
    """Return the result of a job from its log up to the decision to stop, and the documents named there.

    Raises:
        Broken: the job has not stopped.
    """
    view = _until_stopped(view)
    plan, spec = view.require()
    evidence = [documents[each] for each in _stopped(view).evidence if each in documents]
    answer = _Answer(view, rules, evidence)
    usage = usage_of(view)
    return Result(
        job_id=spec.id,
        query=plan.query,
        answer=answer.text(),
        findings=answer.findings,
        sources=answer.sources,
        scores=answer.scores,
        confidence=answer.confidence.value,
        confidence_reasons=answer.confidence.reasons,
        token_used=usage.tokens,
        usage=usage,
        exhausted=_stopped(view).stop.exhausted,
        tier_used=plan.tier,
        intent=plan.intent,
        language=plan.language,
        stop=_stopped(view).stop,
        faithfulness=answer.faithful.share,
        claims_true=answer.faithful.true,
        claims_total=answer.faithful.total,
        uncertainties=answer.open_points,
        conflicts=answer.conflicts,
        source_outcomes=outcomes_of(view, documents, _stopped(view).evidence),
        warnings=warnings_of(plan, [each.document for each in answer.cited], evidence, spec),
        degradations=degradations_of(view),
        trace=trace_of(view),
    )


class _Answer:
    """The parts of an answer, each built on the ones before."""

    def __init__(self, view: JobView, rules: Rules, evidence: Sequence[Document]) -> None:
        plan, spec = view.require()
        stopped = _stopped(view)
        prefs = retrieve_request(spec).constraints.source_prefs
        found, ranked = find_statements(plan, evidence, rules, now_ms=stopped.at_ms, prefs=prefs)
        statements = _within(found, plan.max_sources)
        self._language = plan.language
        self.cited = _cited(statements)
        self.sources = tuple(_source(at, each.document) for at, each in enumerate(self.cited, 1))
        self.scores = tuple(ranked.get(each.document.doc_id, each).score for each in self.cited)
        self.confidence = _confidence(statements, self.cited, stopped, plan.language)
        self.findings = _findings(statements, self.cited, rules)
        claims = [claim for each in self.findings for claim in each.claims]
        self.faithful = faithfulness_of(claims)
        self.conflicts = _conflicts(self.cited, rules)
        self.open_points = (*uncertainties(claims), *_unanswered(plan, statements))

    def text(self) -> str:
        """Return the answer as Markdown."""
        return write_answer(
            self.findings,
            self.conflicts,
            self.open_points,
            self.sources,
            language=self._language,
            confidence=self.confidence.value,
        )


def _until_stopped(view: JobView) -> JobView:
    """Return the state as it was when the decision fell: replies that came later do not count."""
    entries = []
    for entry in view.entries:
        entries.append(entry)
        if isinstance(entry, Stopped):
            break
    return fold(entries)


def _stopped(view: JobView) -> Stopped:
    if view.stopped is None:
        raise Broken
    return view.stopped


def _within(statements: Sequence[Statement], max_sources: int) -> list[Statement]:
    """Return the statements whose documents fit the source limit, best question order first."""
    kept: list[Statement] = []
    allowed: dict[str, None] = {}
    for each in statements:
        doc_id = each.ranked.document.doc_id
        if doc_id in allowed or len(allowed) < max_sources:
            allowed[doc_id] = None
            kept.append(each)
    return kept


def _cited(statements: Sequence[Statement]) -> list[Ranked]:
    """Return the documents that are cited, in order of first citation: exactly these become references."""
    first: dict[str, Ranked] = {}
    for each in statements:
        first.setdefault(each.ranked.document.doc_id, each.ranked)
    return list(first.values())


def _findings(
    statements: Sequence[Statement], cited: Sequence[Ranked], rules: Rules
) -> tuple[Finding, ...]:
    numbers = {each.document.doc_id: at for at, each in enumerate(cited, 1)}
    heaviest = max((each.score.weighted for each in cited), default=0.0)
    return tuple(_finding(each, numbers, heaviest * rules.conflict_ratio) for each in statements)


def _finding(statement: Statement, numbers: Mapping[str, int], opposing_below: float) -> Finding:
    own = statement.ranked.document.doc_id
    others = dict.fromkeys(
        numbers[span.doc_id]
        for claim in statement.claims
        for span in claim.supporting
        if span.doc_id in numbers and span.doc_id != own
    )
    weight = statement.ranked.score.weighted
    faithful = faithfulness_of(statement.claims)
    return Finding(
        text=statement.text,
        question_id=statement.question.id,
        question=statement.question.text,
        claims=statement.claims,
        citations=(numbers[own], *others),
        confidence=round(weight * statement.share * (faithful.share or 0.0), 3),
        label=_label(statement, weight < opposing_below),
    )


def _label(statement: Statement, is_weak: bool) -> str:  # noqa: FBT001
    contradicted = any(each.contradicting for each in statement.claims)
    if is_weak and contradicted:
        return "opposing"
    return "contrary" if statement.question.role == "contrary" else ""


def _confidence(
    statements: Sequence[Statement], cited: Sequence[Ranked], stopped: Stopped, language: str
) -> Confidence:
    claims = [claim for each in statements for claim in each.claims]
    faithful = faithfulness_of(claims)
    agreed = sum(claim.independent > 0 for claim in claims)
    return confidence_of(
        ConfidenceParts(
            weights=tuple(each.score.weighted for each in cited),
            agreement=agreed / len(claims) if claims else 0.0,
            verified=faithful.share or 0.0,
            coverage=stopped.stop.coverage,
            freshness=fmean(each.score.recency.value for each in cited) if cited else 0.0,
        ),
        language,
    )


def _conflicts(cited: Sequence[Ranked], rules: Rules) -> tuple[Conflict, ...]:
    """Return where cited sources disagree, the heavier side first: by weight, never by count."""
    weights = {each.document.doc_id: each.score.weighted for each in cited}
    found = find_disagreements(
        prepare([each.document for each in cited]), rules.verify, most=_MAX_CONFLICTS
    )
    conflicts = []
    for each in found:
        sides = sorted(
            (each.first, each.second), key=lambda span: (-weights[span.doc_id], span.url)
        )
        conflicts.append(
            Conflict(
                topic=each.topic,
                kind=each.kind,
                stronger=sides[0],
                weaker=sides[1],
                stronger_weight=weights[sides[0].doc_id],
                weaker_weight=weights[sides[1].doc_id],
            )
        )
    return tuple(conflicts)


def _unanswered(plan: Plan, statements: Sequence[Statement]) -> tuple[Uncertainty, ...]:
    answered = {question_id for each in statements for question_id in each.question_ids}
    return tuple(
        Uncertainty(text=each.text, reason="no_evidence_for_question")
        for each in plan.questions
        if each.id not in answered and each.role == "main"
    )


def _source(number: int, document: Document) -> CitedSource:
    return CitedSource(
        number=number,
        doc_id=document.doc_id,
        url=document.url,
        title=document.title,
        source_id=document.source_id,
        site=document.site,
        source_type=document.source_type,
        published=document.published,
        date_kind=document.date_kind,
        fetched_at=iso(document.fetched_at_ms),
        authors=document.authors,
        container=document.container,
        publisher=document.publisher,
        volume=document.volume,
        issue=document.issue,
        pages=document.pages,
        doi=document.doi,
        arxiv_id=document.arxiv_id,
        work_type=document.work_type,
        language=document.language,
        retracted=document.retracted,
    )
