"""From the request of an adaptive search to its targets, or the field that is wrong. Bounds count after trimming.

Targets that mean the same are one: text, keywords in their order, window, topics and intent decide. They share one
search and one review, and each keeps its place in the request. Nothing is shortened.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date

from msgspec import UNSET, UnsetType
from msgspec.structs import replace
from signal_search.contracts.adaptive import (
    AdaptiveRequest,
    AskedTarget,
    Fact,
    Keywords,
    Task,
    TimeRange,
)
from signal_search.contracts.adaptive_plan import Origin, Target, TargetWindow, Topic
from signal_search.errors import Invalid

from scoring.screening.dates import Basis, inferred_window, is_day

_CODE = "invalid_input"
_MOST = {"questions": 6, "tasks": 6, "targets": 4, "all targets": 12, "keywords": 4, "facts": 8}
_CHARS = {"question": 400, "context": 400, "keyword": 100, "intent": 2000, "target intent": 1000}
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_BASES: dict[str, Basis] = {"published": "published", "event": "event"}


def targets_of(
    request: AdaptiveRequest, today: date, *, by_dates: bool = True
) -> tuple[Target, ...]:
    """Return the distinct targets of a request, q1, q2, ... in order of appearance.

    today: the UTC day on which the call began. by_dates: days written out in a question are a window too.

    Raises:
        Invalid: `invalid_input`, with the first field at fault; a request that only pages has no targets.
    """
    made = [_dated(each, today, by_dates=by_dates) for each in _asked(request)]
    distinct: dict[Target, Target] = {}
    for number, each in enumerate(made, 1):
        [origin] = each.origins
        plain = replace(each, acceptance="", context="", origins=())
        first = distinct.get(plain)
        first = first or replace(each, id=f"q{len(distinct) + 1}", origins=())
        origin = replace(origin, number=number)
        distinct[plain] = replace(first, origins=(*first.origins, origin))
    return tuple(distinct.values())


def check_page(request: AdaptiveRequest) -> None:
    """Refuse a cursor that comes with anything else than a page size.

    Raises:
        Invalid: `invalid_input`, with the field.
    """
    for name in request.__struct_fields__:
        if name in {"cursor", "page_size"}:
            continue
        default = AdaptiveRequest.__struct_defaults__[request.__struct_fields__.index(name)]
        if getattr(request, name) != default:
            raise _refused("A cursor stands alone, or with page_size.", name)
    if not isinstance(request.cursor, str) or not 1 <= len(request.cursor) <= _CHARS["keyword"]:
        raise _refused("A cursor has 1 to 100 characters.", "cursor")


def _refused(message: str, field: str) -> Invalid:
    return Invalid(message, code=_CODE, field=field)


# --- questions and tasks ----------------------------------------------------------------------------------------------


def _asked(request: AdaptiveRequest) -> list[Target]:
    has_questions, has_tasks = request.questions is not UNSET, request.tasks is not UNSET
    if has_questions == has_tasks:
        raise _refused("Give questions or tasks, and not both.", "questions")
    intent = _intent(request.intent, "intent", _CHARS["intent"])
    if isinstance(request.questions, tuple):
        return list(_of_questions(request.questions, request.keywords, intent))
    if request.keywords is not UNSET:
        raise _refused("Keywords go with questions; targets have their own.", "keywords")
    return list(_of_tasks(request.tasks or (), intent))


def _of_questions(
    questions: Sequence[str], keywords: Keywords | UnsetType, intent: str | None
) -> Iterator[Target]:
    _count(len(questions), "questions", "questions")
    texts = [
        _text(each, f"questions[{at}]", _CHARS["question"]) for at, each in enumerate(questions)
    ]
    lists = _keyword_lists(keywords, len(texts))
    for text, given in zip(texts, lists, strict=True):
        yield Target(
            id="",
            text=text,
            given=given,
            keywords=given or (text,),
            intent=intent,
            origins=_NOWHERE,
        )


def _keyword_lists(keywords: Keywords | UnsetType, questions: int) -> list[tuple[str, ...]]:
    """Return the keywords of each question: none, one flat list for the only question, or a list for each."""
    if isinstance(keywords, UnsetType):
        return [()] * questions
    flat = [each for each in keywords if isinstance(each, str)]
    lists = [each for each in keywords if isinstance(each, tuple)]
    if flat and lists:
        raise _refused("Keywords are one list of texts, or a list for each question.", "keywords")
    if not lists and questions == 1:
        return [_keywords(flat, "keywords")]
    if len(lists) != questions:
        raise _refused("Several questions need a list of keywords each.", "keywords")
    return [_keywords(each, f"keywords[{at}]") for at, each in enumerate(lists)]


def _of_tasks(tasks: Sequence[Task], intent: str | None) -> Iterator[Target]:
    _count(len(tasks), "tasks", "tasks")
    for at, task in enumerate(tasks):
        field = f"tasks[{at}]"
        _count(len(task.targets), "targets", f"{field}.targets")
        if len({each.id for each in task.targets}) < len(task.targets):
            raise _refused("Ids are unique within a task.", f"{field}.targets")
    if sum(len(each.targets) for each in tasks) > _MOST["all targets"]:
        raise _refused(f"At most {_MOST['all targets']} targets in all.", "tasks")
    for at, task in enumerate(tasks):
        field = f"tasks[{at}]"
        context = _text(task.context, f"{field}.context", _CHARS["context"])
        window = _window(task.time_range, f"{field}.time_range")
        for number, asked in enumerate(task.targets):
            made = _target(asked, context, intent, f"{field}.targets[{number}]")
            origin = Origin(number=0, task_id=f"t{at + 1}", target_id=asked.id)
            yield replace(made, window=window, origins=(origin,))


def _target(asked: AskedTarget, context: str, intent: str | None, field: str) -> Target:
    _id(asked.id, f"{field}.id")
    keywords = _keywords(asked.keywords, f"{field}.keywords")
    question = _text(asked.question, f"{field}.question", _CHARS["question"])
    own = _intent(asked.intent, f"{field}.intent", _CHARS["target intent"])
    return Target(
        id="",
        text=f"{context}\n{question}",
        context=context,
        acceptance=question,
        given=keywords,
        keywords=keywords,
        intent="\n".join(each for each in (intent, own) if each) or None,
        topics=_topics(asked.facts, f"{field}.facts"),
    )


_NOWHERE = (Origin(number=0),)


# --- parts ------------------------------------------------------------------------------------------------------------


def _trimmed(text: str) -> str:
    """Return a text without white space around it, a byte order mark included."""
    while (shorter := text.strip().strip("\ufeff")) != text:
        text = shorter
    return text


def _text(text: str, field: str, most: int) -> str:
    found = _trimmed(text)
    if not 1 <= len(found) <= most:
        raise _refused(f"A text of 1 to {most} characters is expected.", field)
    return found


def _intent(intent: str | UnsetType, field: str, most: int) -> str | None:
    return None if isinstance(intent, UnsetType) else _text(intent, field, most)


def _count(count: int, name: str, field: str) -> None:
    if not 1 <= count <= _MOST[name]:
        raise _refused(f"1 to {_MOST[name]} {name} are expected.", field)


def _keywords(given: Sequence[str], field: str) -> tuple[str, ...]:
    _count(len(given), "keywords", field)
    texts = [_text(each, f"{field}[{at}]", _CHARS["keyword"]) for at, each in enumerate(given)]
    return tuple(dict.fromkeys(texts))


def _id(text: str, field: str) -> None:
    if not _ID.fullmatch(text):
        raise _refused("An id has 1 to 64 letters, digits, _ and -.", field)


def _topics(facts: tuple[Fact, ...] | UnsetType, field: str) -> tuple[Topic, ...]:
    if isinstance(facts, UnsetType):
        return ()
    _count(len(facts), "facts", field)
    for at, each in enumerate(facts):
        _id(each.id, f"{field}[{at}].id")
    if len({each.id for each in facts}) < len(facts):
        raise _refused("Ids are unique within a target.", field)
    return tuple(
        Topic(
            id=each.id, question=_text(each.question, f"{field}[{at}].question", _CHARS["question"])
        )
        for at, each in enumerate(facts)
    )


def _window(asked: TimeRange | UnsetType, field: str) -> TargetWindow | None:
    if isinstance(asked, UnsetType):
        return None
    for name, day in (("start", asked.start), ("end", asked.end)):
        if not is_day(day):
            raise _refused("A day of the calendar is expected, YYYY-MM-DD.", f"{field}.{name}")
    if asked.start > asked.end:
        raise _refused("The range ends before it begins.", f"{field}.end")
    basis = _BASES.get(asked.basis)
    if basis is None:
        raise _refused("basis is published or event.", f"{field}.basis")
    return TargetWindow(start=asked.start, end=asked.end, basis=basis)


def _dated(target: Target, today: date, *, by_dates: bool) -> Target:
    """Return a target with the window that its words ask for, where none was given."""
    if target.window is not None:
        return target
    found = inferred_window(target.acceptance or target.text, today, by_dates=by_dates)
    if found is None:
        return target
    window = TargetWindow(start=found.start, end=found.end, basis=found.basis, inferred=True)
    return replace(target, window=window)
