"""Which default aspects of a research its cited sources do not speak of. Pure."""

from collections.abc import Collection, Iterable, Iterator

from signal_search.contracts.document import Document
from signal_search.contracts.finding import Uncertainty
from signal_search.contracts.plan import Plan

from scoring.closure import Anchor, open_dimensions
from workers.planning.aspects import NAMES


def open_aspects(
    plan: Plan, cited: Iterable[Document], named: Collection[str]
) -> Iterator[Uncertainty]:
    """Yield the aspects of a plan that no cited source has a word of, but for the questions in `named`.

    A plan without default aspects has none; the figures of the answer are not touched.
    """
    sources = [Anchor(each.url, f"{each.title} {each.text}") for each in cited]
    aspects = {
        each.dimension: each
        for each in plan.questions
        if each.dimension in NAMES and each.id not in named
    }
    for dimension in open_dimensions(aspects, sources):
        yield Uncertainty(text=aspects[dimension].text, reason="aspect_not_closed")
