"""What a judge is asked and what it may answer: closed questions, typed answers, nothing written freely."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

Phase = Literal["plan", "source_judge", "keyword_judge"]


class NoulCriteria(Struct, frozen=True, kw_only=True, rename={"yes": "true", "no": "false"}):
    """When the answer is yes, and when it is no."""

    yes: str
    no: str


class NoulQuestion(Struct, frozen=True, kw_only=True, tag_field="type", tag="noul"):
    """Answered with the probability of yes, 0..1."""

    instructions: str
    criteria: NoulCriteria


class ChoiceQuestion(Struct, frozen=True, kw_only=True, tag_field="type", tag="choice"):
    """Answered with one of the options; criteria: option -> when it is the one. At least two."""

    instructions: str
    criteria: dict[str, str]


Question = NoulQuestion | ChoiceQuestion
Questions = dict[str, Question]


class JudgeRequest(Struct, frozen=True, kw_only=True):
    """One logical request: state is what the questions are about, questions by their ids."""

    phase: Phase
    state: dict[str, Any]
    questions: Questions


class ChoiceAnswer(Struct, frozen=True, kw_only=True):
    """One of the offered options; confidence None where the judge gave none."""

    choice: str
    confidence: float | None = None


class Judgements(Struct, frozen=True, kw_only=True):
    """What came of one logical request, already checked against its questions.

    A question in neither table is not answered: unknown. invalid: answers that were none; strange: ids nobody asked.
    error: the code of why nothing came at all, "" when something did. attempts: HTTP requests sent; tokens: reported by
    the server, 0 where it does not say.
    """

    nouls: dict[str, float] = {}
    choices: dict[str, ChoiceAnswer] = {}
    invalid: int = 0
    strange: int = 0
    error: str = ""
    attempts: int = 1
    tokens: int = 0


Share = Annotated[float, Meta(ge=0.0, le=1.0)]


class Screen(Struct, frozen=True, kw_only=True, tag_field="kind", tag="screen"):
    """What an adaptive search asks when its caller is the judge: one logical request, as `JudgeRequest`."""

    phase: Phase
    state: dict[str, Any]
    questions: Questions


class NoulSaid(
    Struct, frozen=True, kw_only=True, tag_field="type", tag="noul", forbid_unknown_fields=True
):
    """The probability of yes."""

    noul: Share


class ChoiceSaid(
    Struct, frozen=True, kw_only=True, tag_field="type", tag="choice", forbid_unknown_fields=True
):
    """One of the options, and how sure that is where the judge can tell."""

    choice: str
    confidence: Share | None = None


class ScreenAnswer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Answers by the ids of their questions, at least one; a question that is left out stays unknown."""

    answers: dict[str, NoulSaid | ChoiceSaid]
