"""From a stopped job to its result: pure, so that the same log gives the same bytes on any machine."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from signal_search.contracts.document import Document
from signal_search.contracts.finding import Conflict, Finding, Uncertainty
from signal_search.contracts.plan import Plan, SubQuestion
from signal_search.contracts.result import CitedSource, Result
from signal_search.contracts.trace import (
    Delegated,
    DelegationAnswered,
    DelegationLapsed,
    Judged,
    Stopped,
)
from signal_search.errors import Broken

from infra.clock import iso
from scoring.claims.conflicts import find_disagreements
from scoring.claims.evidence import prepare
from scoring.claims.faithfulness import faithfulness_of, uncertainties
from scoring.confidence import Confidence, ConfidenceParts, confidence_of
from scoring.rank import Ranked
from workers.pipeline.draft import drafted, evidence_of, stopped_in
from workers.pipeline.evidence import asked_on, usage_of
from workers.pipeline.findings import Statement
from workers.pipeline.heeding import heed
from workers.pipeline.judges import judge_of
from workers.pipeline.open_aspects import open_aspects
from workers.pipeline.other_times import other_times
from workers.pipeline.outcomes import degradations_of, outcomes_of, warnings_of
from workers.pipeline.rules import Rules
from workers.pipeline.state import JobView, fold
from workers.pipeline.trace import trace_of
from workers.synthesis.answer import write_answer

_MAX_CONFLICTS = 10
_ASKED_AFTER = (Delegated, DelegationAnswered, DelegationLapsed, Judged)


def publish(view: JobView, documents: Mapping[str, Document], rules: Rules) -> Result:
    """Return the result of a job from its log up to the decision to stop, and the documents named there.

    Raises:
        Broken: the job has not stopped.
    """
    view = _until_stopped(view)
    plan, spec = view.require()
    evidence = evidence_of(view, documents)
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
        exhausted=stopped_in(view).stop.exhausted,
        tier_used=plan.tier,
        intent=plan.intent,
        language=plan.language,
        stop=stopped_in(view).stop,
        faithfulness=answer.faithful.share,
        claims_true=answer.faithful.true,
        claims_total=answer.faithful.total,
        uncertainties=answer.open_points,
        conflicts=answer.conflicts,
        source_outcomes=outcomes_of(view, documents, stopped_in(view).evidence),
        warnings=warnings_of(plan, [each.document for each in answer.cited], evidence, spec),
        degradations=degradations_of(view),
        trace=trace_of(view),
    )


class _Answer:
    """The parts of an answer, each built on the ones before."""

    def __init__(self, view: JobView, rules: Rules, evidence: Sequence[Document]) -> None:
        plan, _spec = view.require()
        stopped = stopped_in(view)
        heeded = heed(view, drafted(view, evidence, rules, judge_of(view)), evidence, rules)
        draft, statements = heeded.draft, heeded.draft.statements
        self._language = plan.language
        self.cited = draft.cited
        self.sources = _sources(self.cited, heeded.dois)
        self.scores = tuple(
            draft.ranked.get(each.document.doc_id, each).score for each in self.cited
        )
        self.confidence = _confidence(statements, self.cited, stopped, plan.language)
        self.findings = _findings(statements, self.cited, rules)
        claims = [claim for each in self.findings for claim in each.claims]
        self.faithful = faithfulness_of(claims)
        found = _conflicts(self.cited, rules)
        self.conflicts = (*found, *_disputed(heeded.disputes, found))
        unanswered = tuple(_unanswered(plan, statements))
        documents = [each.document for each in self.cited]
        self.open_points = (
            *other_times(plan, statements, asked_on(view)),
            *uncertainties(claims),
            *heeded.open_points,
            *(_no_evidence(each) for each in unanswered),
            *open_aspects(plan, documents, {each.id for each in unanswered}),
        )

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
    """Return the state as it was when the decision fell: of what came later, only what was asked about it counts."""
    at = next((n for n, each in enumerate(view.entries) if isinstance(each, Stopped)), None)
    if at is None:
        raise Broken
    before, after = view.entries[: at + 1], view.entries[at + 1 :]
    return fold([*before, *(each for each in after if isinstance(each, _ASKED_AFTER))])


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
    if statement.note:
        return statement.note
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


def _disputed(
    disputes: Sequence[tuple[Statement, Statement]], found: Sequence[Conflict]
) -> Iterator[Conflict]:
    """Yield what the caller's model calls a contradiction and the rules did not find already."""
    known = {frozenset((each.stronger, each.weaker)) for each in found}
    for pair in disputes:
        sides = sorted(pair, key=lambda each: (-each.ranked.score.weighted, each.spans[0].url))
        spans = [each.spans[0] for each in sides]
        if frozenset(spans) not in known:
            weights = [each.ranked.score.weighted for each in sides]
            yield Conflict(
                topic=sides[0].question.text,
                kind="judged",
                stronger=spans[0],
                weaker=spans[1],
                stronger_weight=weights[0],
                weaker_weight=weights[1],
            )


def _unanswered(plan: Plan, statements: Sequence[Statement]) -> Iterator[SubQuestion]:
    answered = {question_id for each in statements for question_id in each.question_ids}
    return (each for each in plan.questions if each.id not in answered and each.role == "main")


def _no_evidence(question: SubQuestion) -> Uncertainty:
    return Uncertainty(text=question.text, reason="no_evidence_for_question")


def _sources(cited: Sequence[Ranked], dois: Mapping[str, str]) -> tuple[CitedSource, ...]:
    """Return the references in order of first citation; a DOI that was resolved is attached to its work."""
    return tuple(
        _source(at, each.document, dois.get(each.document.doc_id, ""))
        for at, each in enumerate(cited, 1)
    )


def _source(number: int, document: Document, resolved: str) -> CitedSource:
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
        doi=document.doi or resolved,
        arxiv_id=document.arxiv_id,
        work_type=document.work_type,
        language=document.language,
        retracted=document.retracted,
    )
