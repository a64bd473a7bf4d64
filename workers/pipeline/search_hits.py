"""From a search's log to its hits: source by source in the order of the plan, each answer in its own order. Pure."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace
from signal_search.contracts.document import Author, Document
from signal_search.contracts.hit import Hit

from workers.hits import hits_of
from workers.pipeline.state import CallView, JobView

Answers = dict[str, list[Hit]]
"""The hits of each source that was asked, by its id, in the order of the plan."""


def answers_of(view: JobView, documents: Mapping[str, Document]) -> Answers:
    """Return what each source answered; one that answered nothing has an empty list."""
    found: Answers = {}
    for call in view.calls.values():
        if call.started is not None or call.call.round <= view.round:
            hits = found.setdefault(call.call.source_id, [])
            hits += _ranked(call, documents)
    return found


def hits_by_question(view: JobView, documents: Mapping[str, Document]) -> dict[str, list[Hit]]:
    """Return the hits of each sub-query, by its id, in the order of the plan."""
    found: dict[str, list[Hit]] = {}
    for call in view.calls.values():
        found.setdefault(call.call.question_id, []).extend(_ranked(call, documents))
    return found


def answer_of(view: JobView) -> str:
    """Return what a source's own model answered: the first one in the order of the plan; empty when none did."""
    said = (each.finished.answer for each in view.fetches() if each.finished is not None)
    return next(filter(None, said), "")


def _ranked(call: CallView, documents: Mapping[str, Document]) -> list[Hit]:
    """Return what a call found, request by request, each answer in its own order, each address once."""
    source, found = call.call.source_id, dict[str, Hit]()
    for end in (each.finished for each in call.in_order() if each.finished is not None):
        known = [documents[each] for each in end.documents if each in documents]
        for hit in hits_of(source, known, end.hits):
            found.setdefault(hit.url, hit)
    return [replace(each, rank=at) for at, each in enumerate(found.values(), 1)]


def names_of(authors: Sequence[Author]) -> tuple[str, ...]:
    """Return authors as people write them: given name, family name."""
    full = (each.literal or f"{each.given} {each.family}".strip() for each in authors)
    return tuple(filter(None, full))
