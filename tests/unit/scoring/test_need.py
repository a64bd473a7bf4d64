"""What an answer must have: names, kinds of value, the wanted side; each value worked out by hand."""

import pytest

from scoring.need import is_about, is_answered, is_wanted, names_in, need_of
from scoring.passages import is_named_after, is_statement, rank_sentences
from scoring.text import tokens
from tests.fakes.builders import a_document


def words(text: str) -> frozenset[str]:
    return frozenset(tokens(text))


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("How high is Mount Corvel?", ["Mount Corvel"]),
        ("How do I use the FTS5 extension?", ["FTS5"]),
        ("What are window functions?", []),
        ("SQLite 怎么做全文搜索？", ["SQLite"]),
        ("科维尔山海拔多少？", ["科维尔山"]),
        ("《红楼梦》的作者是谁？", ["红楼梦"]),
        ("峰顶高度", []),
    ],
)
def test_names_of_a_question(question: str, names: list[str]) -> None:
    wanted = {tuple(dict.fromkeys(tokens(each))) for each in names}
    assert wanted <= set(names_in(question))
    assert bool(names_in(question)) == bool(names)


def test_a_text_about_another_thing_of_the_kind_is_not_about_it() -> None:
    need = need_of("How high is Mount Ansel?")
    assert is_about(need, words("Mount Ansel is 2,114 metres high."))
    assert not is_about(need, words("Mount Corvel is 2,831 metres high."))
    assert (
        rank_sentences(need, a_document(title="Peaks", text="Mount Corvel is 2,831 metres high."))
        == ()
    )


def test_a_chinese_name_is_not_looked_for_in_an_english_text() -> None:
    need = need_of("科维尔山海拔多少？", ("科维尔山", "elevation"))
    assert is_about(need, words("Its elevation is 2,847 metres."))
    assert not is_about(need, words("科维尔河全长74公里。"))


@pytest.mark.parametrize(
    ("question", "answers", "does_not"),
    [
        ("How high is it?", "It is 2,847 metres high.", "It is a high mountain."),
        ("How far is the lake?", "It is a six-mile walk.", "It is far away."),
        ("How long are backups kept?", "Backups are kept for 90 days.", "Backups are kept long."),
        ("How long is it?", "It is 620 metres long.", "It is as long as 7 others."),
        ("How long does it take?", "It takes an hour.", "It takes as long as it takes."),
        ("How long did the war last?", "The war lasted from 1914 to 1918.", "The war was long."),
        ("How old is the tower?", "It was built in 1450.", "The tower is very old."),
        ("How often does the ferry run?", "The ferry runs twice a day.", "The ferry runs often."),
        ("When was it opened?", "It opened on 14 May 1907.", "It opened in spring."),
        (
            "When does the backup start?",
            "The backup starts at 02:30.",
            "The backup may start late.",
        ),
        ("When is it open?", "It is open on Sundays.", "It is open to all."),
        ("When does the hut open?", "The hut opens in June.", "The hut may open again."),
        ("How many turbines has it?", "It has 12 turbines.", "It has some turbines."),
        ("How many turbines has it?", "It has twelve turbines.", "It is one of the large ones."),
        ("它多久备份一次？", "每天备份。", "备份很快。"),
        ("备份保留多久？", "备份保留九十天。", "备份一直都有。"),
        ("它有多少台机组？", "共有十二台机组。", "一些机组。"),
        ("闭馆时间是几点？", "下午五点闭馆。", "很晚闭馆。"),
        ("它海拔多少？", "海拔2847米。", "海拔很高。"),
        ("它何时建成？", "建成于1907年。", "很早建成。"),
    ],
)
def test_the_kind_of_value_that_is_asked_for(question: str, answers: str, does_not: str) -> None:
    need = need_of(question)
    assert is_answered(need, answers) is True
    assert is_answered(need, does_not) is False


@pytest.mark.parametrize("run", ["1", "1 ", "1,", "一", "1" + " " * 100])
def test_a_long_run_of_digits_is_read_once(run: str) -> None:
    """Read from each of its digits to its end, this page would take hours, and not the seconds a test has."""
    text = run * (200_000 // len(run)) + "x"
    for question in ("How high is it?", "How long is it?", "How old is it?", "几点开门？"):
        assert is_answered(need_of(question), text) is False


def test_other_questions_ask_for_no_kind_of_value() -> None:
    assert is_answered(need_of("Why do bees swarm?"), "Bees swarm.") is None


def test_a_contrary_question_wants_what_speaks_against() -> None:
    need = need_of("tidal power criticism limitations", is_contrary=True)
    assert is_wanted(need, words("The main problem of tidal power is its cost."))
    assert not is_wanted(need, words("Tidal power is predictable."))


def test_the_measure_answers_the_word_that_asks_for_it() -> None:
    document = a_document(
        title="Mount Ansel", text="Its summit lies at 2,114 metres. The mountain is old and high."
    )
    [best, *_] = rank_sentences(need_of("How high is Mount Ansel?"), document)
    assert best.span.quote == "Its summit lies at 2,114 metres."


def test_a_direct_answer_speaks_to_how_long() -> None:
    """A duration answers "how long": the word itself need not stand there."""
    document = a_document(title="Backups", text="Backups are kept for 90 days. They are encrypted.")
    [best, *_] = rank_sentences(need_of("How long are backups kept?"), document)
    assert (best.span.quote, best.share) == ("Backups are kept for 90 days.", 1.0)


def test_a_heading_names_but_does_not_state() -> None:
    assert not is_statement("2.2. Basic package management")
    assert is_statement("apt installs packages.")
    document = a_document(
        title="Manual", text="Package management tools\nPackage management tools install packages."
    )
    [best, heading] = rank_sentences(need_of("package management tools"), document)
    assert best.span.quote == "Package management tools install packages."
    assert heading.share == pytest.approx(0.7 * best.share)


def test_a_document_is_named_after_what_is_asked() -> None:
    need = need_of("How high is Mount Ansel?")
    assert is_named_after(need, a_document(title="Mount Ansel"))
    assert not is_named_after(need, a_document(title="Highest points of the islands"))


def test_a_lone_name_is_not_a_question_of_its_own() -> None:
    need = need_of("Debian 软件包管理有哪些基本操作？", ("Debian", "软件包管理", "基本操作"))
    [variant] = need.variants
    assert {"debian", "软件包"} <= set(variant)
    both = need_of("如何使用触发器（trigger）？ SQLite", ("SQLite", "触发器", "trigger"))
    assert both.variants[1] == ("sqlit", "trigger")
