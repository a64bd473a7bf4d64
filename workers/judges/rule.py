"""Driver `rule`: words in common, no model and no network. For trials: chosen by name, named in results.

It reads words, not meaning: an objection looks to it like agreement, and what is said in other words like nothing.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from signal_search.contracts.judging import ChoiceQuestion, Judgements, JudgeRequest

from workers.judges.port import GoesOn, always
from workers.screening.answers import read_answers

_WORD: Final = re.compile(r"[a-z0-9][a-z0-9.+-]*|[\u3400-\u9fff]", re.IGNORECASE)
_JOINING: Final = (
    "a an and are as at be by can do does for from has have how in is it its of on or that the this to was what when "
    "where which who why will with 的 了 在 是 和 有 吗 什 么 哪 些 怎 样 如 何"
)
_EMPTY: Final = frozenset(_JOINING.split())
_ORDERS: Final = re.compile(
    r"(?:ignore|disregard|forget)\s+(?:all\s+|any\s+|the\s+)*(?:previous|prior|above)\s+instructions?|system prompt"
    r"|忽略(?:以上|之前|先前)",
    re.IGNORECASE,
)
_OFTEN: Final = 2  # searches without a useful result, after which there is nothing more to see
_SURE: Final = 0.9
_RICH_WORDS: Final = 12  # a text of so many words is worth reading when it is about the thing
Facts = Mapping[str, Any]


class RuleJudge:
    """`Judge` by overlap of words."""

    def judge(
        self, request: JudgeRequest, *, left_s: float, goes_on: GoesOn = always
    ) -> Judgements:
        """Return an answer to every question; the same state always gives the same."""
        answers = {
            name: _answer(name, question, request.state)
            for name, question in request.questions.items()
        }
        return read_answers(request.questions, answers, attempts=0)


def _answer(name: str, question: object, state: Facts) -> dict[str, Any]:
    head, first, *rest = name.split(".")
    if head == "src":
        return _of_source(first, rest, state)
    if head == "kw":
        return _choice(_go_on(_named(state["keyword_states"], first, int(rest[0]), state)))
    if isinstance(question, ChoiceQuestion):
        return _choice(next(iter(question.criteria)))
    return _noul(_SURE)


def _noul(value: float) -> dict[str, Any]:
    return {"type": "noul", "noul": value}


def _choice(option: str) -> dict[str, Any]:
    return {"type": "choice", "choice": option, "confidence": _SURE}


def _named(states: list[Facts], target: str, at: int, state: Facts) -> Facts:
    """Return the state of a target's keyword by its number."""
    asked = next(each for each in state["questions"] if each["id"] == target)
    keyword = asked["keywords"][at]
    return next(e for e in states if e["question_id"] == target and e["keyword"] == keyword)


def _go_on(keyword: Facts) -> str:
    if keyword["useful_results"]:
        return "satisfied"
    is_seen = keyword["successful_engines"] and not keyword["pending_assessments"]
    return "exhausted" if is_seen and keyword["searches"] >= _OFTEN else "continue"


# --- texts ------------------------------------------------------------------------------------------------------------


def _of_source(name: str, rest: list[str], state: Facts) -> dict[str, Any]:
    candidate = next(each for each in state["candidates"] if each["id"] == name)
    source = state["sources"][candidate["source_index"]]
    asked = next(each for each in state["questions"] if each["id"] == candidate["for_question"])
    text = source["fragments"][candidate["fragment_index"]]["text"]
    words = _words(f"{source['title']} {text}")
    if rest[0] == "kind":
        return _choice("direct" if _share(asked["text"], words) >= _SURE else "lead")
    return _noul(round(_value(rest, asked, text, words), 4))


def _value(rest: list[str], asked: Facts, text: str, words: set[str]) -> float:
    field = rest[0]
    if field.startswith("kw"):
        return _share(asked["keywords"][int(field[2:])], words)
    if field.startswith("topic"):
        return _share(asked["topics"][int(field[5:])]["question"], words)
    if field == "injection":
        return _SURE if _ORDERS.search(text) else 0.0
    if field == "time_match":
        return _SURE  # the days themselves are looked at by rule, not by the judge
    return _worth(field, asked, text, words)


def _worth(field: str, asked: Facts, text: str, words: set[str]) -> float:
    if field == "direction_match":
        return _share(asked.get("intent", ""), words)
    about = max(_share(each, words) for each in (asked["text"], *asked["keywords"]))
    return about if field == "relevance" else about * min(1.0, len(_words(text)) / _RICH_WORDS)


def _words(text: str) -> set[str]:
    found = (each.lower().rstrip(".") for each in _WORD.findall(text))
    return {_stem(each) for each in found if each not in _EMPTY}


def _stem(word: str) -> str:
    """Return a word without a plural s, which is all the grammar there is."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _share(wanted: str, words: set[str]) -> float:
    """Return which part of the wanted words is there, 0 when none are wanted."""
    named = _words(wanted)
    return len(named & words) / len(named) if named else 0.0
