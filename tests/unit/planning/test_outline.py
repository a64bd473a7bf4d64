"""An outline as text: what is written is read back, and what a person makes of it is what they meant."""

from hypothesis import given
from hypothesis import strategies as st
from signal_search.contracts.plan import SubQuestion

from workers.planning.clarifying import clarified, clarifying_question
from workers.planning.outline import OUTLINE_NOTE, read_outline, write_outline

QUESTIONS = (
    SubQuestion(id="q1", text="What is a write-ahead log?", dimension="definition"),
    SubQuestion(id="q2", text="How large may it grow?", depends_on=("q1",)),
    SubQuestion(id="q3", text="write-ahead log limitations", role="contrary", dimension="contrary"),
)


def texts(outline: str, most: int = 8) -> list[str]:
    found = read_outline(outline, QUESTIONS, most)
    return [] if found is None else [each.text for each in found.questions]


def test_an_outline_is_one_numbered_line_for_each_sub_question():
    assert write_outline("What is a WAL?", QUESTIONS) == (
        "# What is a WAL?\n\n"
        "1. What is a write-ahead log?\n"
        "2. How large may it grow? (after 1)\n"
        "3. write-ahead log limitations (contrary)\n"
    )
    assert "3. write-ahead log limitations（反面）" in write_outline("什么是预写日志？", QUESTIONS)


def test_what_is_confirmed_is_what_was_shown():
    found = read_outline(write_outline("What is a WAL?", QUESTIONS), QUESTIONS, 8)
    assert found is not None
    assert found.questions == QUESTIONS
    assert found.note == OUTLINE_NOTE


def test_lines_can_be_changed_added_moved_and_taken_out():
    edited = """# Anything at all

    A remark that is no item.
    1) How large may it grow?
    - What does it cost to replay?
    * 预写日志有多大？（在 1 之后）
    """
    found = read_outline(edited, QUESTIONS, 8)
    assert found is not None
    assert [(each.id, each.text, each.depends_on) for each in found.questions] == [
        ("q1", "How large may it grow?", ()),
        ("q2", "What does it cost to replay?", ()),
        ("q3", "预写日志有多大？", ("q1",)),
    ]


def test_a_line_waits_only_for_one_before_it():
    found = read_outline("1. a one (after 2)\n2. b two (after 2)\n3. c (after 99)", QUESTIONS, 8)
    assert found is not None
    assert [each.depends_on for each in found.questions] == [(), (), ()]


def test_control_characters_reach_no_sub_question():
    assert texts("1. What\x1b[2J is\x00 it?\r\n2. And\ttwo\x85") == ["What[2J is it?", "And two"]


def test_what_is_beyond_the_width_is_cut_and_said():
    found = read_outline("\n".join(f"{n}. thing {n}" for n in range(1, 31)), QUESTIONS, 8)
    assert found is not None
    assert (len(found.questions), found.original) == (8, 30)
    assert found.note == "outline: 22 sub-questions beyond the tier's width"


def test_a_text_without_items_is_no_outline():
    assert read_outline("", QUESTIONS, 8) is None
    assert read_outline("# Only a title\n\nAnd a remark.", QUESTIONS, 8) is None
    assert read_outline("1. (contrary)", QUESTIONS, 8) is None


ITEM = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=40)


@given(st.lists(ITEM, min_size=1, max_size=8))
def test_any_words_survive_being_written_and_read(words: list[str]):
    questions = [SubQuestion(id=f"q{n}", text=f"what {each}") for n, each in enumerate(words, 1)]
    marks = ("(contrary)", "（反面）", "(after", "（在")
    if any(mark in each for each in words for mark in marks):
        return
    found = read_outline(write_outline("what", questions), questions, 8)
    assert found is not None
    assert list(found.questions) == questions


@given(st.text(max_size=300))
def test_no_text_breaks_the_reader(text: str):
    found = read_outline(text, QUESTIONS, 3)
    assert found is None or 1 <= len(found.questions) <= 3


def test_a_clarification_is_added_and_orders_nothing():
    assert clarified("it?", "  the height\nof Mount Ansel ") == "it? the height of Mount Ansel"
    assert clarified("/signal L2 it?", "/signal L3 more") == "/signal L2 it? /signal L3 more"
    assert clarified("it?", "the\x1b[2J\x00 height\u3000of it") == "it? the[2J height of it"
    assert len(clarified("x" * 3999, "y" * 2000)) == 4000
    assert clarifying_question("它？") != clarifying_question("it?")
