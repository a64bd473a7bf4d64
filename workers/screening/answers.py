"""A judge's raw answers, read strictly. Unknown is what is missing or no valid answer; it is never 0 and never "no"."""

from collections.abc import Mapping
from typing import Any

from signal_search.contracts.judging import (
    ChoiceAnswer,
    ChoiceQuestion,
    Judgements,
    NoulQuestion,
    Question,
    Questions,
)

from scoring.screening.judgement import known


def read_answers(
    questions: Questions, raw: Mapping[str, Any], *, attempts: int = 1, tokens: int = 0
) -> Judgements:
    """Return what is valid of the answers in `raw` (id -> answer as decoded JSON), and how many are not."""
    nouls: dict[str, float] = {}
    choices: dict[str, ChoiceAnswer] = {}
    for name, question in questions.items():
        if name not in raw:
            continue
        found = _answer(question, raw[name])
        if isinstance(found, ChoiceAnswer):
            choices[name] = found
        elif found is not None:
            nouls[name] = found
    asked = sum(name in questions for name in raw)
    return Judgements(
        nouls=nouls,
        choices=choices,
        invalid=asked - len(nouls) - len(choices),
        strange=len(raw) - asked,
        attempts=attempts,
        tokens=tokens,
    )


def _answer(question: Question, raw: object) -> float | ChoiceAnswer | None:
    if not isinstance(raw, dict):
        return None
    if isinstance(question, NoulQuestion):
        return known(raw.get("noul")) if raw.get("type") == "noul" else None
    return _choice(question, raw) if raw.get("type") == "choice" else None


def _choice(question: ChoiceQuestion, raw: dict[str, Any]) -> ChoiceAnswer | None:
    choice, confidence = raw.get("choice"), raw.get("confidence")
    if not isinstance(choice, str) or choice not in question.criteria:
        return None
    sure = known(confidence)
    if confidence is not None and sure is None:
        return None
    if not _are_probabilities(raw.get("probabilities"), question):
        return None
    return ChoiceAnswer(choice=choice, confidence=sure)


def _are_probabilities(raw: object, question: ChoiceQuestion) -> bool:
    """Return whether the probabilities of an answer are absent, or ones of the options."""
    if raw is None:
        return True
    if not isinstance(raw, dict) or not set(raw) <= set(question.criteria):
        return False
    return all(known(each) is not None for each in raw.values())
