"""What may be answered to a question, as JSON Schema (2020-12): the bounds of its type, cut to its options."""

from typing import Any

import msgspec
from signal_search.contracts.delegation import (
    ANSWERS,
    AgentTask,
    Clarify,
    ConflictCheck,
    DoiResolve,
    Entail,
    Execute,
    OutlineConfirm,
    Question,
    RelevanceJudge,
    Route,
    TierClassify,
)
from signal_search.contracts.judging import ChoiceQuestion, NoulQuestion, Screen
from signal_search.contracts.query import DelegationKind

Schema = dict[str, Any]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def kind_of(question: Question) -> DelegationKind:
    """Return what kind of question it is: its tag."""
    return DelegationKind(str(question.__struct_config__.tag))


def schema_of(question: Question) -> dict[str, object]:
    """Return the schema of an answer: an object, every property required that has no default, nothing beside them."""
    properties, required = _plain(kind_of(question))
    for name, narrower in _narrower(question).items():
        properties[name] = {**properties[name], **narrower}
    return {
        "$schema": _DIALECT,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _plain(kind: DelegationKind) -> tuple[dict[str, Schema], list[str]]:
    """Return the properties of an answer's type, with what they refer to put in its place."""
    found = msgspec.json.schema(ANSWERS[kind])
    parts: dict[str, Schema] = found["$defs"]
    answer = parts[ANSWERS[kind].__name__]
    properties = {name: _inline(each, parts) for name, each in answer["properties"].items()}
    return properties, list(answer.get("required", []))


def _inline(value: Any, parts: dict[str, Schema]) -> Any:
    if isinstance(value, dict):
        if "$ref" in value:
            return _inline(parts[value["$ref"].rsplit("/", 1)[1]], parts)
        # A title that is text names the type; one that is a schema is a property of that name.
        kept = {name: each for name, each in value.items() if not _is_name(name, each)}
        return {name: _inline(each, parts) for name, each in kept.items()}
    if isinstance(value, list):
        return [_inline(each, parts) for each in value]
    return value


def _is_name(key: str, value: object) -> bool:
    return key == "title" and isinstance(value, str)


def _narrower(question: Question) -> dict[str, Schema]:
    match question:
        case TierClassify():
            return {"tier": {"enum": [each.value for each in question.options]}}
        case Route():
            options = [each.id for each in question.candidates]
            return {"sources": _among(options, question.most)}
        case RelevanceJudge():
            return {"relevant": _among([each.number for each in question.passages])}
        case ConflictCheck() | Entail() | DoiResolve() | Execute():
            name, number = _counted(question)
            return {name: {"minItems": number, "maxItems": number}}
        case Screen():
            return {"answers": _by_question(question)}
        case Clarify() | OutlineConfirm() | AgentTask():
            return {}


def _counted(question: ConflictCheck | Entail | DoiResolve | Execute) -> tuple[str, int]:
    """Return the property that has one entry for each of the things that are asked about, and how many these are."""
    match question:
        case ConflictCheck():
            return "opinions", len(question.pairs)
        case Entail():
            return "verdicts", len(question.pairs)
        case DoiResolve():
            return "works", len(question.works)
        case Execute():
            return "runs", len(question.snippets)


def _by_question(question: Screen) -> Schema:
    """Return a property for each question, narrowed to what its type allows; the type's own schema is any of them."""
    properties = {name: _said(each) for name, each in question.questions.items()}
    return {"properties": properties, "additionalProperties": False, "minProperties": 1}


def _said(question: NoulQuestion | ChoiceQuestion) -> Schema:
    share: Schema = {"type": "number", "minimum": 0, "maximum": 1}
    if isinstance(question, NoulQuestion):
        return _object({"type": {"const": "noul"}, "noul": share}, ["type", "noul"])
    properties: dict[str, Schema] = {
        "type": {"const": "choice"},
        "choice": {"enum": list(question.criteria)},
        "confidence": {"anyOf": [share, {"type": "null"}]},
    }
    return _object(properties, ["type", "choice"])


def _object(properties: dict[str, Schema], required: list[str]) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _among(options: list[Any], most: int | None = None) -> Schema:
    found: Schema = {"items": {"enum": options}, "uniqueItems": True}
    return found if most is None else {**found, "maxItems": most}
