"""A site is left when its last pages said nothing new; each site by its own pages, and not before it said something."""

from collections.abc import Sequence
from typing import Any

from signal_search.contracts.document import Document
from signal_search.contracts.plan import PlannedCall, SubQuestion
from signal_search.contracts.query import Tier
from signal_search.contracts.result import StopReason
from signal_search.contracts.source import Link
from signal_search.contracts.trace import Entry

from infra.settings import load
from tests.fakes.builders import NOW_MS, a_document, a_log, finished, queued, started
from workers.pipeline.decide import Decision, decide
from workers.pipeline.news import News
from workers.pipeline.reading import Reading
from workers.pipeline.rules import snapshot
from workers.pipeline.state import fold

RULES = snapshot(load())
QUESTION = SubQuestion(id="q1", text="How high is Mount Ansel?", terms=("Mount Ansel", "high"))
PLAN: dict[str, Any] = {
    "tier": Tier.L2,
    "questions": (QUESTION, SubQuestion(id="q2", text="Mount Ansel criticism", role="contrary")),
    "calls": (
        PlannedCall(id="all.a", source_id="a", question_id="*", shared=True),
        PlannedCall(id="all.b", source_id="b", question_id="*", shared=True),
    ),
}
NEWS = "Mount Ansel is 2,114 metres high."
TEA = "Green tea is grown on terraces."


def site(call: str, texts: Sequence[str]) -> tuple[list[Entry], dict[str, Document]]:
    """A call whose pages have these texts; each links to one more page about the question."""
    root = f"https://{call[-1]}.example/"
    entries: list[Entry] = [started(call, 1)]
    documents = {}
    for number, text in enumerate(texts, 1):
        fetch_id, url, doc_id = f"{call}#{number}", f"{root}{number}", f"{call}{number}"
        more = Link(url=f"{root}more{number}", text="How high Mount Ansel is")
        entries += [
            queued(fetch_id, url, kind="page", site=root),
            finished(fetch_id, doc_id, url=url, links=(more,)),
        ]
        documents[doc_id] = a_document(
            doc_id=doc_id, url=url, title=f"Page {number}", text=text, site=f"{call[-1]}.example"
        )
    return entries, documents


def decided(first: Sequence[str], second: Sequence[str]) -> Decision:
    (one, documents), (two, more) = site("all.a", first), site("all.b", second)
    log = fold(a_log(*one, *two, **PLAN))
    return decide(log, documents | more, RULES, now_ms=NOW_MS + 10)


def asked(decision: Decision) -> list[str]:
    return [each.fetch_id for each in decision.fetches]


def test_a_site_is_left_after_four_quiet_pages_and_the_other_goes_on() -> None:
    assert asked(decided([NEWS, *[TEA] * 3], [TEA])) == ["all.a#5", "all.b#2"]
    assert asked(decided([NEWS, *[TEA] * 4], [TEA])) == ["all.b#2"]


def test_a_site_that_said_nothing_yet_is_followed_on() -> None:
    assert asked(decided([TEA] * 8, [TEA])) == ["all.a#9", "all.b#2"]


def test_news_begins_the_count_anew() -> None:
    better = "Mount Ansel is 2,114 metres high, as high as Mount Corvel."
    assert "all.a#7" in asked(decided([NEWS, *[TEA] * 3, better, TEA], [TEA]))


def test_both_sites_left_and_the_question_answered_by_them_ends_the_search() -> None:
    other = "With its 2,114 metres, Mount Ansel stands high over the valley of the Corve."
    found = decided([NEWS, *[TEA] * 4], [other, *[TEA] * 4])
    assert found.stop is not None
    assert found.stop.reason is StopReason.CHECKLIST_CLOSED


def test_one_dry_site_alone_ends_as_nothing_new() -> None:
    one, documents = site("all.a", [NEWS, *[TEA] * 4])
    two, more = site("all.b", [*[TEA] * RULES.site.max_pages])
    found = decide(fold(a_log(*one, *two, **PLAN)), documents | more, RULES, now_ms=NOW_MS + 10)
    assert found.stop is not None
    assert found.stop.reason is StopReason.NOTHING_NEW


def test_a_reply_is_news_once() -> None:
    document = a_document(text=NEWS)
    news = News([QUESTION], Reading([document], RULES.verify))
    assert [news.of([document]) for _ in range(4)] == [1, 1, 1, 0]  # three places among the best
    assert news.of([]) == 0


def test_a_page_that_came_before_its_request_was_noted_is_noted_first() -> None:
    """The step that asked for the fifth page died in between: it is named again, and only then the site is left."""
    (one, documents), (two, more) = site("all.a", [NEWS, *[TEA] * 4]), site("all.b", [TEA])
    unnoted = [each for each in one if getattr(each, "key", "") != "all.a#5:queued"]
    found = decide(fold(a_log(*unnoted, *two, **PLAN)), documents | more, RULES, now_ms=NOW_MS + 10)
    assert [(each.fetch_id, each.was_offered) for each in found.fetches] == [
        ("all.a#5", True),
        ("all.b#2", False),
    ]
