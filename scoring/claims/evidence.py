"""Documents made ready for many claims: cut and indexed once, so that most are passed over unread."""

from collections.abc import Sequence

from signal_search.contracts.document import Document
from signal_search.contracts.finding import Span

from scoring.claims.passage import Passage
from scoring.text import sentences


class PreparedDocument:
    """A document, its sentences in order, and which sentences hold which word."""

    def __init__(self, document: Document) -> None:
        """Cut and index the document's text."""
        self.document = document
        self.passages = tuple(Passage(each) for each in sentences(document.text))
        self.places: dict[str, list[int]] = {}
        for place, passage in enumerate(self.passages):
            for key in passage.key_set:
                self.places.setdefault(key, []).append(place)

    def coverage(self, claim: Passage) -> float:
        """Return the weighted share, 0 to 1, of the claim's content words found anywhere in the document."""
        held = [weight for key, weight in claim.weights.items() if key in self.places]
        return sum(held) / claim.total_weight if held else 0.0

    def best_places(self, claim: Passage, most: int) -> list[int]:
        """Return the places of the sentences that hold most of the claim's weight, best first."""
        scores: dict[int, float] = {}
        for key, weight in claim.weights.items():
            for place in self.places.get(key, ()):
                scores[place] = scores.get(place, 0.0) + weight
        return sorted(scores, key=lambda place: (-scores[place], place))[:most]

    def neighbours(self, place: int) -> tuple[Passage, ...]:
        """Return the sentences before and after a place."""
        return (*self.passages[max(0, place - 1) : place], *self.passages[place + 1 : place + 2])

    def verbatim(self, claim: Passage) -> tuple[int, int] | None:
        """Return the first and last place of whole sentences that are the claim word for word, if there are any."""
        wanted = claim.keys
        for first in self.places.get(wanted[0], ()) if wanted else ():
            last, have = first, self.passages[first].keys
            while (
                len(have) < len(wanted)
                and last + 1 < len(self.passages)
                and wanted[: len(have)] == have
            ):
                last += 1
                have += self.passages[last].keys
            if have == wanted:
                return first, last
        return None

    def span(self, first: int, last: int) -> Span:
        """Return the byte-exact span from one sentence to another."""
        start, end = self.passages[first].sentence.start, self.passages[last].sentence.end
        quote = self.document.text.encode("utf-8", "surrogatepass")[start:end].decode(
            "utf-8", "surrogatepass"
        )
        return Span(
            doc_id=self.document.doc_id, url=self.document.url, start=start, end=end, quote=quote
        )


def prepare(documents: Sequence[Document]) -> tuple[PreparedDocument, ...]:
    """Return the documents made ready for any number of claims."""
    return tuple(PreparedDocument(each) for each in documents)
