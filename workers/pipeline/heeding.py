"""What the caller's answers change in a drafted answer. Pure, and never more than the question allowed.

An agent's sentences stand only where the documents bear them out; a DOI only where its record is the work's; a judged
conflict only between passages that are cited. Answers add or hold back statements; none of them removes a disagreement
that the rules found, or makes a claim true that the rules speak against.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec
from signal_search.contracts.delegation import (
    AgentAnswer,
    ConflictAnswer,
    ConflictCheck,
    DoiAnswer,
    DoiResolve,
    Execute,
    ExecuteAnswer,
    RelevanceAnswer,
    RelevanceJudge,
    Run,
    Snippet,
)
from signal_search.contracts.document import Document
from signal_search.contracts.finding import Claim, Uncertainty, Verdict

from scoring.claims.reasons import Reason
from scoring.claims.split import statements
from scoring.claims.verdict import verify_prepared
from scoring.doi_match import is_same_work, plain_doi
from scoring.passages import SPEAKS
from workers.pipeline.answer_questions import (
    CODE,
    CONFLICTS,
    WORKS,
    code_claims,
    conflict_pairs,
    of_question,
    shown_of,
    without_doi,
    work_of,
)
from workers.pipeline.delegating import answer_in
from workers.pipeline.draft import Draft
from workers.pipeline.findings import Statement
from workers.pipeline.reading import Reading
from workers.pipeline.rules import Rules
from workers.pipeline.state import JobView
from workers.planning.spoken import plain

IRRELEVANT = "judged_irrelevant"
_MOST_SENTENCES = 20  # of one agent's text


@dataclass(frozen=True)
class Heeded:
    """A draft after the caller's answers: its statements, what stays open because of them, DOIs by document.

    disputes: statements that the caller's model says contradict each other.
    """

    draft: Draft
    open_points: tuple[Uncertainty, ...] = ()
    dois: Mapping[str, str] = field(default_factory=dict)
    disputes: tuple[tuple[Statement, Statement], ...] = ()


def heed(view: JobView, draft: Draft, evidence: Sequence[Document], rules: Rules) -> Heeded:
    """Return the draft with every answer of the log heeded; without any, the draft as it is."""
    if not view.delegations:
        return Heeded(draft)
    relevant, dropped = _relevant(view, draft)
    checked = _executed(view, relevant)
    spoken, unborne = _with_agents(view, checked, evidence, rules)
    disputes = tuple(
        pair for pair in _disputes(view, draft) if all(each in relevant.statements for each in pair)
    )
    return Heeded(
        draft=spoken,
        open_points=(*dropped, *unborne),
        dois=_dois(view, draft),
        disputes=disputes,
    )


# --- relevance --------------------------------------------------------------------------------------------------------


def _relevant(view: JobView, draft: Draft) -> tuple[Draft, list[Uncertainty]]:
    """Hold back the statements that do not speak to their sub-question, and say so."""
    held: list[Statement] = []
    for question_id in dict.fromkeys(each.question.id for each in draft.statements):
        name = f"relevance_judge.{question_id}"
        answer, known = answer_in(view, name), view.delegations.get(name)
        if not isinstance(answer, RelevanceAnswer) or known is None or known.asked is None:
            continue
        asked = known.asked.delegation.question
        passages = asked.passages if isinstance(asked, RelevanceJudge) else ()
        kept = {each for each in passages if each.number in answer.relevant}
        own = of_question(draft, question_id)
        shown = zip(own, shown_of(own), strict=True)
        held += [each for each, passage in shown if passage in passages and passage not in kept]
    if not held:
        return draft, []
    left = [each for each in draft.statements if each not in held]
    said = [
        Uncertainty(text=each.text, reason=IRRELEVANT, url=each.ranked.document.url)
        for each in held
    ]
    return Draft(left, draft.ranked), said


# --- code -------------------------------------------------------------------------------------------------------------


def _executed(view: JobView, draft: Draft) -> Draft:
    """Leave claims that depend on code open unless the caller ran it and saw what they say."""
    if CODE not in view.delegations:
        return draft
    runs = _runs(view)
    verdicts = {claim: _reason(runs.get(snippet)) for snippet, claim in code_claims(draft)}
    found = [_settled(each, verdicts) for each in draft.statements]
    return Draft(found, draft.ranked)


def _runs(view: JobView) -> dict[Snippet, Run]:
    known, answer = view.delegations[CODE], answer_in(view, CODE)
    asked = known.asked.delegation.question if known.asked is not None else None
    if not isinstance(asked, Execute) or not isinstance(answer, ExecuteAnswer):
        return {}
    return dict(zip(asked.snippets, answer.runs, strict=False))


def _reason(run: Run | None) -> Reason | None:
    if run is None or not run.ran:
        return Reason.NEEDS_EXECUTION
    return None if run.agrees else Reason.EXECUTION_DISAGREES


def _settled(statement: Statement, verdicts: Mapping[str, Reason | None]) -> Statement:
    reasons = [verdicts.get(each.text) for each in statement.claims]
    if not any(reasons):
        return statement
    claims = tuple(
        _open(each, reason) if reason else each
        for each, reason in zip(statement.claims, reasons, strict=True)
    )
    return replace(statement, claims=claims, note=str(next(each for each in reasons if each)))


def _open(claim: Claim, reason: Reason) -> Claim:
    return msgspec.structs.replace(claim, verdict=Verdict.UNCERTAIN, reason=reason)


# --- agents -----------------------------------------------------------------------------------------------------------


def _with_agents(
    view: JobView, draft: Draft, evidence: Sequence[Document], rules: Rules
) -> tuple[Draft, list[Uncertainty]]:
    """Put what an agent said, and the documents bear out, before the quotations it was shown."""
    reading = Reading(evidence, rules.verify)
    found: list[Statement] = []
    unborne: list[Uncertainty] = []
    for question_id in dict.fromkeys(each.question.id for each in draft.statements):
        own = of_question(draft, question_id)
        answer = answer_in(view, f"agent_task.{question_id}")
        if isinstance(answer, AgentAnswer):
            for claim in _claims(answer.text, reading, rules):
                said = _said(claim, own[0], draft)
                if said is None:
                    unborne.append(Uncertainty(text=claim.text, reason=f"agent_{claim.reason}"))
                else:
                    found.append(said)
        found += own
    return Draft(found, draft.ranked), unborne


def _claims(text: str, reading: Reading, rules: Rules) -> list[Claim]:
    texts = dict.fromkeys(each.text for each in statements(plain(text)))
    return [
        verify_prepared(each, reading.ready, own_doc_ids=set(), rules=rules.verify)
        for each in list(texts)[:_MOST_SENTENCES]
    ]


def _said(claim: Claim, beside: Statement, draft: Draft) -> Statement | None:
    """Return an agent's sentence as a statement of the heaviest cited document that bears it out, None without one."""
    cited = {each.document.doc_id: each for each in draft.cited}
    bearing = [each for each in claim.supporting if each.doc_id in cited]
    if claim.verdict is not Verdict.TRUE or not bearing:
        return None
    best = max(bearing, key=lambda each: (cited[each.doc_id].score.weighted, each.url))
    return Statement(
        question=beside.question,
        ranked=cited[best.doc_id],
        spans=(best,),
        claims=(claim,),
        share=max(beside.share, SPEAKS),
        said=claim.text,
        note=beside.note,
    )


# --- works and conflicts ----------------------------------------------------------------------------------------------


def _dois(view: JobView, draft: Draft) -> dict[str, str]:
    """Return the DOIs that may be attached, by document: those whose registered title and authors are the work's."""
    known, answer = view.delegations.get(WORKS), answer_in(view, WORKS)
    asked = known.asked.delegation.question if known is not None and known.asked else None
    if not isinstance(asked, DoiResolve) or not isinstance(answer, DoiAnswer):
        return {}
    resolved = dict(zip(asked.works, answer.works, strict=False))
    found: dict[str, str] = {}
    for each in without_doi(draft):
        said = resolved.get(work_of(each))
        names = [author.family or author.literal for author in each.authors]
        if said and is_same_work(each.title, names, said.title, said.authors):
            found[each.doc_id] = plain_doi(said.doi)
    return {doc_id: doi for doc_id, doi in found.items() if doi}


def _disputes(view: JobView, draft: Draft) -> list[tuple[Statement, Statement]]:
    known, answer = view.delegations.get(CONFLICTS), answer_in(view, CONFLICTS)
    asked = known.asked.delegation.question if known is not None and known.asked else None
    if not isinstance(asked, ConflictCheck) or not isinstance(answer, ConflictAnswer):
        return []
    opinions = dict(zip(asked.pairs, answer.opinions, strict=False))
    return [
        (first, second)
        for shown, first, second in conflict_pairs(draft)
        if opinions.get(shown) == "contradict"
    ]
