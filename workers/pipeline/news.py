"""Whether a reply says anything new: whether one of its passages enters the best few of a sub-question.

One measure for the stop rule, which looks at all replies of a job, and for a site's crawl, which looks at its own.
"""

from collections.abc import Sequence

from signal_search.contracts.document import Document
from signal_search.contracts.plan import SubQuestion

from scoring.passages import SPEAKS, Passage
from workers.pipeline.reading import Reading
from workers.pipeline.state import CallView, JobView

_TOP = 3  # passages per question that can be in an answer


class News:
    """The best passages so far, by sub-question; replies are added in order.

    of_asked_time: a passage that is not of the time which its sub-question names is no news.
    """

    def __init__(
        self, questions: Sequence[SubQuestion], reading: Reading, *, of_asked_time: bool = True
    ) -> None:
        self._questions, self._reading = questions, reading
        self._of_asked_time = of_asked_time
        self._best: dict[str, list[float]] = {each.id: [] for each in questions}

    def of(self, documents: Sequence[Document]) -> int:
        """Return for how many sub-questions the documents of one reply bring a better passage."""
        return sum(
            self._improves(
                self._best[question.id],
                [
                    found[0].share
                    for each in documents
                    if (found := self._reading.passages(question, each))
                    and self._counts(question, found[0], each)
                ],
            )
            for question in self._questions
        )

    def _counts(self, question: SubQuestion, best: Passage, document: Document) -> bool:
        return not self._of_asked_time or self._reading.of_time(question, best, document) is True

    @staticmethod
    def _improves(best: list[float], shares: Sequence[float]) -> bool:
        before = list(best)
        best.extend(each for each in shares if each >= SPEAKS)
        best.sort(reverse=True)
        del best[_TOP:]
        return best != before


def is_dry(view: JobView, call: CallView, reading: Reading, quiet: int) -> bool:
    """Say whether a site is read enough: it said something, and its last `quiet` pages said nothing new.

    `reading` holds the documents of this call alone, so that other hosts change nothing. A site that has said nothing
    yet is followed to its limit: its promising links come first, not its answers. Of which time its values are does not
    matter here: four pages on, a site with those of another year is no likelier to have the asked ones. A page whose
    request is still to be noted does not count, so that it is noted.
    """
    plan, _spec = view.require()
    by_id = {each.doc_id: each for each in reading.documents}
    news = News(plan.questions, reading, of_asked_time=False)
    found = [
        news.of([by_id[each] for each in page.finished.documents if each in by_id])
        for page in call.in_order()
        if page.has_arrived and page.finished is not None and page.queued is not None
    ]
    last = found[-quiet:]
    return any(found) and len(last) == quiet and not any(last)
