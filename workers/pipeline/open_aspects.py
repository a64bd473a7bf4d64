"""Which default aspects of a research its sources do not speak of. Pure; a plan without such aspects is not touched.

A page about the subject alone would pass for an answer to each of its aspects, since it holds most of their words.
"""

from collections.abc import Collection, Iterable, Iterator

from signal_search.contracts.document import Document
from signal_search.contracts.finding import Uncertainty
from signal_search.contracts.plan import Plan, SubQuestion

from scoring.closure import Anchor, is_closed, open_dimensions
from workers.planning.aspects import NAMES


def open_aspects(
    plan: Plan, cited: Iterable[Document], named: Collection[str]
) -> Iterator[Uncertainty]:
    """Yield the aspects of a plan that no cited source has a word of, but for the questions in `named`."""
    sources = [_anchor(each) for each in cited]
    aspects = {
        each.dimension: each
        for each in plan.questions
        if each.dimension in NAMES and each.role == "main" and each.id not in named
    }
    for dimension in open_dimensions(aspects, sources):
        yield Uncertainty(text=aspects[dimension].text, reason="aspect_not_closed")


def speaks_of_aspect(question: SubQuestion, document: Document) -> bool:
    """Check that a document has a word of the aspect that a question is about; true of every other question.

    The side that speaks against is known by words of its own, and has none of the aspect's.
    """
    if question.dimension not in NAMES or question.role == "contrary":
        return True
    return is_closed(question.dimension, [_anchor(document)])


def _anchor(document: Document) -> Anchor:
    return Anchor(document.url, f"{document.title} {document.text}")
