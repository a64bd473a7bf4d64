"""The times of a document, sentence by sentence: what is named where, and when the document was published."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache

from msgspec import Struct
from signal_search.contracts.document import Document

from scoring.passages import is_statement
from scoring.text import Sentence, sentences
from scoring.times import period
from scoring.times.mention import Mention
from scoring.times.period import Period
from scoring.times.reading import times_in

_DATE_PARTS = 3


class Place(Struct, frozen=True):
    """A sentence's times. paragraph: the number of its line; is_heading: a line that states nothing."""

    times: tuple[Mention, ...]
    paragraph: int
    is_heading: bool


class DocumentTimes(Struct, frozen=True):
    """places: sentence by sentence; position: of the sentence that begins at a byte; published: None if not known."""

    places: tuple[Place, ...]
    position: Mapping[int, int]
    title: tuple[Mention, ...]
    published: Period | None


@lru_cache(maxsize=128)
def read_times(document: Document) -> DocumentTimes:
    """Return the times of a document. `last month` is counted from its day of publication, if that is known."""
    published = _published(document.published)
    today = published.first if published and published.first == published.last else None
    cut = sentences(document.text)
    return DocumentTimes(
        places=tuple(_places(document.text, cut, today)),
        position={each.start: at for at, each in enumerate(cut)},
        title=times_in(document.title, today),
        published=published,
    )


def likely_years(named: Mention, beside: Sequence[Mention], read: DocumentTimes) -> Collection[int]:
    """Return the years that a time without one may be of: those named beside it, in the title, or by the publication.

    Empty where nothing tells, or the year is named.
    """
    if not named.period.is_yearless:
        return ()
    return _years_of(beside) or _years_of(read.title) or _before_publication(named, read.published)


def _places(text: str, cut: Sequence[Sentence], today: date | None) -> Iterator[Place]:
    raw = text.encode("utf-8", "surrogatepass")
    paragraph = end = 0
    for each in cut:
        paragraph += b"\n" in raw[end : each.start]
        end = each.end
        yield Place(times_in(each.text, today), paragraph, not is_statement(each.text))


def _published(written: str) -> Period | None:
    """Return the day, month or year of an ISO date; None where it is none."""
    try:
        parts = [int(each) for each in written.split("-")]
        if len(parts) == _DATE_PARTS:
            return period.day(parts[2], parts[1], parts[0])
        return (
            period.months(parts[1], parts[1], parts[0])
            if parts[1:]
            else period.years(parts[0], parts[0])
        )
    except ValueError:
        return None


def _years_of(times: Sequence[Mention]) -> set[int]:
    return {
        each.period.first.year
        for each in times
        if each.form != "open" and not each.period.is_yearless
    }


def _before_publication(named: Mention, published: Period | None) -> set[int]:
    """Return the year of publication, and the one before where the month was to come: in March, December is past."""
    if published is None:
        return set()
    year = published.last.year
    has_come = named.period.first.month <= published.last.month
    return {year} if has_come else {year - 1, year}
