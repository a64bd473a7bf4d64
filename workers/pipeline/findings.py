"""Extractive findings: for each sub-question the sentences that answer it, from the best sources, claim by claim."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from signal_search.contracts.document import Document
from signal_search.contracts.finding import Claim, Span
from signal_search.contracts.plan import Plan, SubQuestion
from signal_search.contracts.query import SourcePrefs

from scoring.claims.opinion import Judge
from scoring.claims.split import statements
from scoring.claims.verdict import verify_prepared
from scoring.passages import SPEAKS, Passage, estimate_tokens, is_statement, title_share
from scoring.rank import Ranked, rank
from scoring.sba import Asked
from workers.pipeline.reading import Reading, need_for
from workers.pipeline.rules import Rules

_SENTENCES = 3  # per finding
_PER_QUESTION = 3  # findings, from as many documents
_TITLE_BONUS = (
    1.0  # of a document whose title carries the whole question: it is about it, not a mention
)


# The label of a statement that is not known to be of the time its question names.
OTHER_TIME = "other_time"

_Speaking = tuple[tuple[Passage, ...], Ranked]


@dataclass(frozen=True)
class Statement:
    """A finding in the making: the document it was drawn from, its spans in text order, its verified claims.

    said: the words of the caller's agent, which the claims were taken from; empty for a quotation. note: its label.
    """

    question: SubQuestion
    ranked: Ranked
    spans: tuple[Span, ...]
    claims: tuple[Claim, ...]
    share: float
    also: tuple[str, ...] = ()
    said: str = ""
    note: str = ""

    @property
    def text(self) -> str:
        """Return the quoted sentences, joined, or the words that they bear out."""
        return self.said or " ".join(each.quote.strip() for each in self.spans)

    @property
    def question_ids(self) -> tuple[str, ...]:
        """Return every sub-question that the same sentences answer."""
        return (self.question.id, *self.also)


def find_statements(
    plan: Plan,
    reading: Reading,
    rules: Rules,
    *,
    now_ms: int,
    prefs: SourcePrefs,
    judge: Judge | None = None,
) -> tuple[list[Statement], Mapping[str, Ranked]]:
    """Return the statements, question by question, and each document's ranking for its best question.

    The judge is asked about claims that the rules leave open.
    """
    found: list[Statement] = []
    best: dict[str, Ranked] = {}
    for question in plan.questions:
        asked = Asked(
            variants=need_for(question).variants, intent=plan.intent, now_ms=now_ms, prefs=prefs
        )
        kept = rank(reading.documents, asked, rules.sba).kept
        for each in kept:
            known = best.get(each.document.doc_id)
            if known is None or known.score.relevance.value < each.score.relevance.value:
                best[each.document.doc_id] = each
        left = rules.verify.max_claims - sum(len(each.claims) for each in found)
        found.extend(_of_question(question, kept, reading, rules, left, judge))
    return _distinct(found), best


def _of_question(
    question: SubQuestion,
    ranked: Sequence[Ranked],
    reading: Reading,
    rules: Rules,
    left: int,
    judge: Judge | None,
) -> Iterator[Statement]:
    speaking = [(reading.passages(question, each.document), each) for each in ranked]
    speaking = [(found, each) for found, each in speaking if found and found[0].share >= SPEAKS]
    speaking.sort(key=lambda each: (-_worth(question, each), each[1].document.url))
    ordered = _of_asked_time_first(question, _one_per_site_first(speaking), reading)
    for passages, each in ordered[:_PER_QUESTION]:
        if left <= 0:
            return
        is_of_time = reading.of_time(question, passages[0], each.document)
        spans = _chosen(passages, rules.passage_tokens)
        claims = _verified(spans, each.document, reading, rules, judge)[:left]
        left -= len(claims)
        note = "" if is_of_time else OTHER_TIME
        yield Statement(question, each, spans, claims, passages[0].share, note=note)


def _worth(question: SubQuestion, speaking: _Speaking) -> float:
    """The passage says whether a document answers, its title what it is about, its weight how far to trust it."""
    passages, ranked = speaking
    title = title_share(need_for(question), ranked.document)
    return passages[0].share * ranked.score.weighted * (1.0 + _TITLE_BONUS * title)


def _one_per_site_first(
    speaking: list[_Speaking],
) -> list[_Speaking]:
    """Put the best document of each site before second ones: independent voices say more than repeated ones."""
    seen: set[str] = set()
    first: list[_Speaking] = []
    second: list[_Speaking] = []
    for each in speaking:
        site = each[1].document.site
        (second if site in seen else first).append(each)
        seen.add(site)
    return first + second


def _of_asked_time_first(
    question: SubQuestion, speaking: Sequence[_Speaking], reading: Reading
) -> list[_Speaking]:
    """Put documents of the asked time first, and leave out of these the sentences that are of another time."""
    timely: list[_Speaking] = []
    others: list[_Speaking] = []
    for passages, each in speaking:
        times = [reading.of_time(question, passage, each.document) for passage in passages]
        if times[0]:
            kept = tuple(p for p, time in zip(passages, times, strict=True) if time is not False)
            timely.append((kept, each))
        else:
            others.append((passages, each))
    return timely + others


def _chosen(passages: Sequence[Passage], limit_tokens: int) -> tuple[Span, ...]:
    """Return the best few sentences within the token limit, in text order; the best one always."""
    best = passages[0]
    chosen = [best.span]
    left = limit_tokens - estimate_tokens(best.span.quote)
    for each in passages[1:]:
        cost = estimate_tokens(each.span.quote)
        if len(chosen) == _SENTENCES or each.share < best.share / 2:
            break
        if cost <= left and is_statement(each.span.quote):
            chosen.append(each.span)
            left -= cost
    return tuple(sorted(chosen, key=lambda each: each.start))


def _verified(
    spans: Sequence[Span],
    document: Document,
    reading: Reading,
    rules: Rules,
    judge: Judge | None,
) -> tuple[Claim, ...]:
    texts = dict.fromkeys(part.text for span in spans for part in statements(span.quote))
    return tuple(
        verify_prepared(
            text, reading.ready, own_doc_ids={document.doc_id}, rules=rules.verify, judge=judge
        )
        for text in texts
    )


def _distinct(found: Sequence[Statement]) -> list[Statement]:
    """Return each statement once, under the first question it answers, with the others it answers too."""
    first: dict[tuple[tuple[Span, ...], str], Statement] = {}
    for each in found:
        known = first.get((each.spans, each.note))
        if known is None:
            first[each.spans, each.note] = each
        else:
            first[each.spans, each.note] = replace(known, also=(*known.also, each.question.id))
    return list(first.values())
