"""The table of interface texts: complete in both languages, with the same places for values."""

from string import Formatter

import pytest
from signal_search.cli import texts as module
from signal_search.cli.texts import Texts
from signal_search.contracts.job import JobState
from signal_search.contracts.source import SkipReason


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("key", module._TABLE)
def test_both_languages_say_the_same(key: str) -> None:
    english, chinese = module._TABLE[key]
    assert english
    assert chinese
    assert places(english) == places(chinese)


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("zh_CN.UTF-8", "来源"),
        ("zh", "来源"),
        ("ZH-hans", "来源"),
        ("en_US.UTF-8", "Sources"),
        ("C", "Sources"),
        ("", "Sources"),
    ],
)
def test_the_locale_chooses(lang: str, said: str) -> None:
    assert Texts(lang)("sources") == said


def test_every_state_and_every_reason_to_skip_has_words() -> None:
    assert {f"state.{state}" for state in JobState} <= set(module._TABLE)
    assert {f"reason.{reason}" for reason in SkipReason} <= set(module._TABLE)


def test_an_unknown_key_falls_back() -> None:
    assert Texts("en").lookup("error.tomorrow", "as told") == "as told"
