"""A document counts for an aspect when it has a word of it; an open one is named once."""

from signal_search.contracts.document import Document
from signal_search.contracts.plan import SubQuestion

from tests.fakes.builders import a_document, a_plan
from workers.pipeline.open_aspects import open_aspects, speaks_of_aspect

MECHANISM = SubQuestion(id="q2", text="tea mechanism", dimension="mechanism and principles")
AGAINST = SubQuestion(
    id="q3", text="tea limits", role="contrary", dimension="controversies and limitations"
)
PLAIN = SubQuestion(id="q1", text="tea")


def page(text: str, url: str = "https://tea.org/") -> Document:
    return a_document(doc_id="d", url=url, site="tea.org", title="Tea", text=text)


def test_a_page_about_the_subject_alone_is_none_about_its_aspect() -> None:
    assert not speaks_of_aspect(MECHANISM, page("Tea is grown on terraces."))
    assert speaks_of_aspect(MECHANISM, page("The mechanism of oxidation turns tea black."))


def test_every_other_question_is_left_alone() -> None:
    assert speaks_of_aspect(PLAIN, page("Anything."))
    assert speaks_of_aspect(AGAINST, page("Tea fails to grow in frost."))


def test_what_is_open_is_named_unless_it_is_named_already() -> None:
    plan = a_plan(questions=(PLAIN, MECHANISM, AGAINST))
    silent, speaking = page("Tea is green."), page("Principles of brewing.")
    assert [each.text for each in open_aspects(plan, [silent], ())] == ["tea mechanism"]
    assert list(open_aspects(plan, [silent], {"q2"})) == []
    assert list(open_aspects(plan, [silent, speaking], ())) == []
    assert len(list(open_aspects(plan, [], ()))) == 1
