"""What a drafted answer leaves to ask of the caller, by the name of each question. Pure; empty questions are left out.

The same functions name what is asked and find it again when the answer is heeded, by content and never by luck.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

from signal_search.contracts.delegation import (
    AgentTask,
    ConflictCheck,
    DoiResolve,
    Entail,
    Execute,
    Question,
    RelevanceJudge,
    Shown,
    Snippet,
    Statements,
    Work,
)
from signal_search.contracts.document import Document
from signal_search.contracts.plan import Plan, SubQuestion
from signal_search.contracts.query import Tier

from scoring.claims.code import code_in
from workers.pipeline.draft import Draft
from workers.pipeline.findings import Statement
from workers.pipeline.judges import ENTAIL, Collector

CONFLICTS = "conflict_check"
WORKS = "doi_resolve"
CODE = "execute"


def questions_of(plan: Plan, draft: Draft, heard: Collector, most: int) -> dict[str, Question]:
    """Return every question that is open to a caller, whoever offers to answer which."""
    found: dict[str, Question] = {}
    if heard.pairs:
        found[ENTAIL] = Entail(pairs=heard.pairs)
    pairs = tuple(shown for shown, _first, _second in conflict_pairs(draft))[:most]
    if pairs:
        found[CONFLICTS] = ConflictCheck(pairs=pairs)
    works = tuple(work_of(each) for each in without_doi(draft))[:most]
    if works:
        found[WORKS] = DoiResolve(works=works)
    snippets = tuple(dict.fromkeys(each for each, _claim in code_claims(draft)))[:most]
    if snippets:
        found[CODE] = Execute(snippets=snippets)
    found |= {
        f"relevance_judge.{each.id}": _relevance(each, draft) for each in _spoken(plan, draft)
    }
    if plan.tier is Tier.L3:
        found |= {
            f"agent_task.{each.id}": _task(plan, each, draft) for each in _spoken(plan, draft)
        }
    return found


def of_question(draft: Draft, question_id: str) -> list[Statement]:
    """Return the statements that answer a sub-question, in the order in which they are numbered from 1."""
    return [each for each in draft.statements if each.question.id == question_id]


def conflict_pairs(draft: Draft) -> Iterator[tuple[Statements, Statement, Statement]]:
    """Yield each two statements of different sites that answer the same sub-question."""
    numbered = list(enumerate(draft.statements, 1))
    for (n, first), (m, second) in combinations(numbered, 2):
        sites = {first.ranked.document.site, second.ranked.document.site}
        if first.question.id == second.question.id and len(sites) == 2:
            yield Statements(first=_shown(n, first), second=_shown(m, second)), first, second


def without_doi(draft: Draft) -> list[Document]:
    """Return the cited works that might have a DOI: with authors, and without one."""
    cited = (each.document for each in draft.cited)
    return [each for each in cited if each.authors and each.title and not each.doi]


def work_of(document: Document) -> Work:
    """Return a document as the work that a register may know."""
    return Work(
        title=document.title,
        authors=document.authors,
        arxiv_id=document.arxiv_id,
        published=document.published,
        url=document.url,
    )


def code_claims(draft: Draft) -> Iterator[tuple[Snippet, str]]:
    """Yield the claims that depend on code, each with what is to be run."""
    for each in draft.statements:
        for claim in each.claims:
            code = code_in(claim.text)
            if code:
                url = each.ranked.document.url
                yield Snippet(claim=claim.text, code=code, url=url), claim.text


def shown_of(statements: Sequence[Statement]) -> tuple[Shown, ...]:
    """Return statements as numbered passages."""
    return tuple(_shown(number, each) for number, each in enumerate(statements, 1))


def _shown(number: int, statement: Statement) -> Shown:
    return Shown(number=number, url=statement.ranked.document.url, text=statement.text)


def _spoken(plan: Plan, draft: Draft) -> list[SubQuestion]:
    answered = {each.question.id for each in draft.statements}
    return [each for each in plan.questions if each.id in answered]


def _relevance(question: SubQuestion, draft: Draft) -> RelevanceJudge:
    passages = shown_of(of_question(draft, question.id))
    return RelevanceJudge(question=question.text, passages=passages)


def _task(plan: Plan, question: SubQuestion, draft: Draft) -> AgentTask:
    return AgentTask(
        query=plan.query,
        task=question.text,
        dimension=question.dimension,
        passages=shown_of(of_question(draft, question.id)),
    )
