"""What an answer is made of before it is worded: the statements that fit, and the documents that they cite. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from signal_search.contracts.document import Document
from signal_search.contracts.trace import Stopped
from signal_search.errors import Broken

from scoring.claims.opinion import Judge
from scoring.rank import Ranked
from workers.pipeline.evidence import asked_on
from workers.pipeline.findings import Statement, find_statements
from workers.pipeline.reading import Reading
from workers.pipeline.rules import Rules
from workers.pipeline.state import JobView, retrieve_request


@dataclass(frozen=True)
class Draft:
    """The statements of an answer, and each document's ranking for its best question."""

    statements: list[Statement]
    ranked: Mapping[str, Ranked]

    @property
    def cited(self) -> list[Ranked]:
        """Return the documents that are cited, in order of first citation: exactly these become references."""
        first: dict[str, Ranked] = {}
        for each in self.statements:
            first.setdefault(each.ranked.document.doc_id, each.ranked)
        return list(first.values())


def drafted(
    view: JobView, evidence: Sequence[Document], rules: Rules, judge: Judge | None = None
) -> Draft:
    """Return the statements that the evidence of a stopped job makes, within its source limit."""
    plan, spec = view.require()
    found, ranked = find_statements(
        plan,
        Reading(evidence, rules.verify, asked_on(view)),
        rules,
        now_ms=stopped_in(view).at_ms,
        prefs=retrieve_request(spec).constraints.source_prefs,
        judge=judge,
    )
    return Draft(within(found, plan.max_sources), ranked)


def within(statements: Sequence[Statement], max_sources: int) -> list[Statement]:
    """Return the statements whose documents fit the source limit, best question order first."""
    kept: list[Statement] = []
    allowed: dict[str, None] = {}
    for each in statements:
        doc_id = each.ranked.document.doc_id
        if doc_id in allowed or len(allowed) < max_sources:
            allowed[doc_id] = None
            kept.append(each)
    return kept


def evidence_of(view: JobView, documents: Mapping[str, Document]) -> list[Document]:
    """Return the documents that count, as the decision to stop named them."""
    return [documents[each] for each in stopped_in(view).evidence if each in documents]


def stopped_in(view: JobView) -> Stopped:
    """Return the decision to stop.

    Raises:
        Broken: the job has not stopped.
    """
    if view.stopped is None:
        raise Broken
    return view.stopped
