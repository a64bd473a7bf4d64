"""From a search's log to its hits: source by source in the order of the plan, each answer in its own order. Pure."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace
from signal_search.contracts.document import Author, Document
from signal_search.contracts.hit import Hit

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
    hits = _hits(call, documents)
    source = call.call.source_id
    return [replace(each, source_id=source, rank=at) for at, each in enumerate(hits, 1)]


def _hits(call: CallView, documents: Mapping[str, Document]) -> list[Hit]:
    """Return the documents' hits, then those that are no evidence."""
    ends = [each.finished for each in call.in_order() if each.finished is not None]
    ids = dict.fromkeys(doc_id for end in ends for doc_id in end.documents)
    of_documents = [hit_of(documents[each]) for each in ids if each in documents]
    shown = {each.url for each in of_documents}
    return of_documents + [each for end in ends for each in end.hits if each.url not in shown]


def hit_of(document: Document) -> Hit:
    """Return a document as a hit: its text without the title that it begins with is the snippet."""
    text = document.text.removeprefix(document.title).strip()
    return Hit(
        url=document.url,
        title=document.title,
        snippet=text.lstrip(". \n"),
        published=document.published,
        language=document.language,
        doi=document.doi,
        arxiv_id=document.arxiv_id,
        authors=document.authors,
        container=document.container,
        citations=document.citations,
    )


def names_of(authors: Sequence[Author]) -> tuple[str, ...]:
    """Return authors as people write them: given name, family name."""
    full = (each.literal or f"{each.given} {each.family}".strip() for each in authors)
    return tuple(filter(None, full))
