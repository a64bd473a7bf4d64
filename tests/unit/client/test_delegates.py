"""Callables of a caller: what each is called with, and the answer that its value makes."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import jsonschema_rs
import msgspec
import pytest
from signal_search.client.answering import LoopWorker, ThreadWorker, called
from signal_search.client.delegates import Delegates, kinds_of, replied
from signal_search.client.takeover import prompt_of, reply_from
from signal_search.contracts.delegation import (
    ANSWERS,
    AgentTask,
    Candidate,
    ClaimPassage,
    Clarify,
    ConflictCheck,
    Delegation,
    DelegationReply,
    DoiResolve,
    Entail,
    Execute,
    OutlineConfirm,
    Question,
    RelevanceJudge,
    Route,
    Shown,
    Snippet,
    Statements,
    TierClassify,
    Work,
)
from signal_search.contracts.document import Author
from signal_search.contracts.judging import (
    ChoiceQuestion,
    NoulCriteria,
    NoulQuestion,
    Screen,
)
from signal_search.contracts.query import DelegationKind, Intent, Tier

from workers.pipeline.answer_schema import kind_of, schema_of

ONE = Shown(number=1, url="https://a.test/", text="It is high.")
TWO = Shown(number=2, url="https://b.test/", text="It is low.")
WORK = Work(title="On Logs", authors=(Author(family="Weir"),), arxiv_id="2101.00001")
SNIPPET = Snippet(claim="f(2) returns 4", code="f(2)", url="https://a.test/")


async def here(ask: Callable[..., object], arguments: Sequence[object]) -> object:
    return ask(*arguments)


def reply(question: Question, ask: Callable[..., object]) -> DelegationReply:
    return asyncio.run(replied(question, ask, here))


SCREEN = Screen(
    phase="source_judge",
    state={"title": "Mount Ansel"},
    questions={
        "q1": NoulQuestion(
            instructions="Is it high?", criteria=NoulCriteria(yes="it is", no="not")
        ),
        "q2": ChoiceQuestion(instructions="Which?", criteria={"yes": "it is", "no": "it is not"}),
    },
)


CASES: list[tuple[Question, Callable[..., Any], dict[str, Any] | None]] = [
    (TierClassify(query="q", suggested=Tier.L1, options=tuple(Tier)), lambda q: "L2", {"tier": "L2"}),
    (Clarify(query="q", text="what?", suggested=Intent.FACT), lambda text, q: f"{text}{q}", {"text": "what?q"}),
    (Clarify(query="q", text="what?", suggested=Intent.FACT), lambda text, q: None, None),
    (OutlineConfirm(query="q", outline="1. a", most=8), lambda o: o + "\n2. b", {"outline": "1. a\n2. b"}),
    (
        Route(query="q", candidates=(Candidate(id="a", name="A"), Candidate(id="b", name="B")), suggested=("a",), most=1),
        lambda q, ids: ids[1:],
        {"sources": ["b"]},
    ),
    (
        ConflictCheck(pairs=(Statements(first=ONE, second=TWO), Statements(first=ONE, second=ONE))),
        lambda first, second: first != second,
        {"opinions": ["contradict", "agree"]},
    ),
    (
        Entail(pairs=(ClaimPassage(claim="It is high.", passage="It is high.", url=""),)),
        lambda claim, passage: "TRUE" if claim == passage else "UNCERTAIN",
        {"verdicts": ["TRUE"]},
    ),
    (AgentTask(query="q", task="t", dimension="d", passages=(ONE,)), lambda task: task.passages[0].text, {"text": "It is high."}),
    (Execute(snippets=(SNIPPET,)), lambda s: {"ran": True, "agrees": True, "output": "4"}, {"runs": [{"ran": True, "agrees": True, "output": "4"}]}),
    (Execute(snippets=(SNIPPET,)), lambda s: None, {"runs": [{"ran": False, "agrees": False, "output": ""}]}),
    (RelevanceJudge(question="q", passages=(ONE, TWO)), lambda q, text: "high" in text, {"relevant": [1]}),
    (SCREEN, lambda s: {"q1": {"type": "noul", "noul": 0.5}}, {"answers": {"q1": {"type": "noul", "noul": 0.5}}}),
    (
        SCREEN,
        lambda s: {"q2": {"type": "choice", "choice": next(iter(s.questions["q2"].criteria))}},
        {"answers": {"q2": {"type": "choice", "choice": "yes", "confidence": None}}},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("question", "ask", "answer"), CASES, ids=lambda each: type(each).__name__)
def test_a_value_becomes_the_answer_that_the_schema_takes(
    question: Question, ask: Callable[..., object], answer: dict[str, Any] | None
):
    made = reply(question, ask)
    if answer is None:
        assert made == DelegationReply(decline=True)
        return
    plain = msgspec.json.decode(msgspec.json.encode(made.answer))
    assert plain == answer
    assert jsonschema_rs.validator_for(dict(schema_of(question))).is_valid(plain)


def test_a_resolver_may_know_some_works_only():
    known = {"doi": "10.1000/x", "title": "On Logs", "authors": ["Weir"]}
    said = iter([known, None])
    made = reply(DoiResolve(works=(WORK, WORK)), lambda work: next(said))
    assert msgspec.json.decode(msgspec.json.encode(made.answer)) == {"works": [known, None]}


@pytest.mark.parametrize(
    ("question", "value"),
    [
        (CASES[0][0], "L9"),
        (CASES[0][0], 7),
        (DoiResolve(works=(WORK,)), "10.1000/only-a-string"),
        (Entail(pairs=(ClaimPassage(claim="c", passage="p", url=""),)), "PROBABLY"),
    ],
)
def test_what_makes_no_answer_is_an_error_of_the_callable(question: Question, value: object):
    with pytest.raises((TypeError, ValueError)):
        reply(question, lambda *_: value)


def test_only_what_somebody_can_answer_is_offered():
    assert kinds_of({}) == ()
    assert kinds_of({"entail_fn": None}) == ()
    assert kinds_of({"doi_resolver": lambda work: None}) == (DelegationKind.DOI_RESOLVE,)
    model: Delegates = {"llm_fn": lambda prompt: ""}
    left = set(DelegationKind) - set(kinds_of(model))
    assert left == {
        DelegationKind.EXECUTE,
        DelegationKind.OUTLINE_CONFIRM,
        DelegationKind.DOI_RESOLVE,
    }


def delegation(question: Question) -> Delegation:
    kind = kind_of(question)
    return Delegation(
        id="x", kind=kind, question=question, answer_schema=schema_of(question), deadline_ms=1
    )


@pytest.mark.parametrize(
    "question", [each[0] for each in CASES], ids=lambda each: type(each).__name__
)
def test_every_question_has_a_prompt_with_its_schema(question: Question):
    prompt = prompt_of(delegation(question))
    assert msgspec.json.encode(schema_of(question)).decode() in prompt
    assert msgspec.json.encode(question).decode() in prompt


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"tier": "L2"}', {"tier": "L2"}),
        ('```json\n{"tier": "L2"}\n```', {"tier": "L2"}),
        ('Sure! {"tier": "L2"} as you wished.', {"tier": "L2"}),
        ("I do not know.", None),
        ('["L2"]', None),
        ("{" * 5000, None),
        ("\ud800{}", {}),
    ],
)
def test_an_answer_is_read_out_of_a_models_words(text: str, answer: dict[str, Any] | None):
    made = reply_from(text)
    assert (made.answer, made.decline) == (answer, answer is None)


def test_every_kind_has_an_answer_type():
    assert set(ANSWERS) == set(DelegationKind)


async def _answer() -> DelegationReply:
    return DelegationReply(answer={})


async def _fail() -> DelegationReply:
    raise LookupError


async def _hang() -> DelegationReply:
    await asyncio.Event().wait()
    raise AssertionError


def test_a_worker_returns_what_came_of_it():
    async def both(make: Any, seconds: float) -> list[object]:
        return [await LoopWorker().run(make, seconds)]

    assert asyncio.run(both(_answer, 40)) == [DelegationReply(answer={})]
    assert isinstance(asyncio.run(both(_fail, 40))[0], LookupError)
    assert asyncio.run(both(_hang, 0.01)) == [None]


def test_a_thread_worker_runs_coroutine_functions_without_a_loop_of_its_caller():
    def step(make: Any) -> object:
        try:
            ThreadWorker().run(make, 40).send(None)
        except StopIteration as end:
            return end.value
        raise AssertionError

    assert step(_answer) == DelegationReply(answer={})
    assert isinstance(step(_fail), LookupError)


def test_plain_and_coroutine_functions_are_called_alike():
    async def twice(value: int) -> int:
        return 2 * value

    assert asyncio.run(called(twice, (2,))) == 4
    assert asyncio.run(called(lambda value: 2 * value, (2,))) == 4
    assert asyncio.run(called(lambda value: twice(value + 1), (1,))) == 4
