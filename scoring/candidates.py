"""The candidates of an academic search: records of several sources, merged where they are the same paper."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, structs

from scoring.identity import normal_arxiv, normal_doi

# A DOI of arXiv's own prefix names the same work as the arXiv id.
_ARXIV_DOI = "10.48550/arxiv."
_WORD = re.compile(r"[^\W_]+")


class Candidate(Struct, frozen=True, kw_only=True):
    """A paper about to be scored. `sources` are those that reported it; empty texts and None are unknown.

    `citations` below 0 and `year` below 1 are unknown too. `raw_rank` is the place in the source's own list, from 1.
    """

    title: str
    abstract: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str = ""
    citations: int | None = None
    url: str = ""
    doi: str = ""
    arxiv_id: str = ""
    sources: tuple[str, ...] = ()
    raw_rank: int | None = None
    raw_score: float | None = None


def merge(records: Sequence[Candidate]) -> list[Candidate]:
    """Return one candidate for each paper, in the order of first appearance.

    Records with a DOI or arXiv id in common are one paper, through any chain of records; by title only records without
    either. The first record wins; what it lacks comes from later ones, citations are the highest, the rank the lowest
    reported, the authors the longest list, the sources all in order (scorer guide, section 4). The result depends on
    the order of the records alone: pass them by source in the order of the request, then by rank.
    """
    groups = _Groups()
    for record in records:
        groups.add(record)
    return [_merged(group) for group in groups.members()]


class _Groups:
    """Union-find over the keys of records."""

    def __init__(self) -> None:
        self._records: list[Candidate] = []
        self._parents: list[int] = []
        self._first_with: dict[str, int] = {}

    def add(self, record: Candidate) -> None:
        number = len(self._records)
        self._records.append(record)
        self._parents.append(number)
        for key in _keys(record):
            self._join(self._first_with.setdefault(key, number), number)

    def _join(self, one: int, other: int) -> None:
        self._parents[self._root(other)] = self._root(one)

    def _root(self, number: int) -> int:
        parents = self._parents
        while parents[number] != number:
            parents[number] = parents[parents[number]]
            number = parents[number]
        return number

    def members(self) -> list[list[Candidate]]:
        groups: dict[int, list[Candidate]] = {}
        for number, record in enumerate(self._records):
            groups.setdefault(self._root(number), []).append(record)
        return list(groups.values())


def _keys(record: Candidate) -> Iterator[str]:
    doi, arxiv = normal_doi(record.doi), normal_arxiv(record.arxiv_id)
    if doi.startswith(_ARXIV_DOI):
        doi, arxiv = "", arxiv or normal_arxiv(doi.removeprefix(_ARXIV_DOI))
    if doi:
        yield f"doi:{doi}"
    if arxiv:
        yield f"arxiv:{arxiv}"
    if not doi and not arxiv and (title := title_key(record.title)):
        yield f"title:{title}"


def title_key(title: str) -> str:
    """Return the words of a title in lower case, joined by spaces; empty when it has none.

    For English the word rule of the scorer guide; words of other scripts count too, since without them all Chinese
    titles would be one.
    """
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", title).casefold()))


def _merged(group: Sequence[Candidate]) -> Candidate:
    first = group[0]
    sources = distinct(source for each in group for source in each.sources)
    if len(group) == 1:
        return first if sources == first.sources else structs.replace(first, sources=sources)
    return structs.replace(
        first,
        title=_first_text(each.title for each in group),
        abstract=_first_text(each.abstract for each in group),
        venue=_first_text(each.venue for each in group),
        url=_first_text(each.url for each in group),
        doi=_first_text(each.doi for each in group),
        arxiv_id=_first_text(each.arxiv_id for each in group),
        authors=max((each.authors for each in group), key=len),
        year=next((each.year for each in group if each.year is not None and each.year > 0), None),
        citations=max(
            (
                each.citations
                for each in group
                if each.citations is not None and each.citations >= 0
            ),
            default=None,
        ),
        raw_rank=min((each.raw_rank for each in group if each.raw_rank is not None), default=None),
        raw_score=next((each.raw_score for each in group if each.raw_score is not None), None),
        sources=sources,
    )


def _first_text(texts: Iterable[str]) -> str:
    return next((text for text in texts if text.strip()), "")


def distinct(sources: Iterable[str]) -> tuple[str, ...]:
    """Return the names without surrounding space, each once, in order; empty ones are none."""
    return tuple(dict.fromkeys(name for each in sources if (name := each.strip())))
