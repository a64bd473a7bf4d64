"""The caller's callables, and how each is asked: from a typed question to the typed answer that the job accepts.

A callable gets plain values and returns plain values; it may be a coroutine function. What it returns is put into the
contract's shape here, and whatever is wrong with it is found by the gateway too.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypedDict, cast

import msgspec

from signal_search.contracts.delegation import (
    ANSWERS,
    AgentTask,
    Clarify,
    ConflictCheck,
    DelegationReply,
    DoiResolve,
    Entail,
    Execute,
    OutlineConfirm,
    Question,
    RelevanceJudge,
    ResolvedWork,
    Route,
    Run,
    Snippet,
    TierClassify,
    Work,
)
from signal_search.contracts.judging import Screen
from signal_search.contracts.query import DelegationKind

Said = Any
"""What a callable returns: the value its docstring names, or an awaitable of it."""

Call = Callable[[Callable[..., object], Sequence[object]], Awaitable[object]]
"""Call a callable with arguments and return its value, awaited where it is an awaitable."""


class Delegates(TypedDict, total=False):
    """What a caller can answer. Each is optional; a question that none of them takes is not asked.

    tier_classify_fn(query) -> "L0" to "L3". clarify_fn(question, query) -> words, or None. outline_fn(outline) -> the
    outline as it should be. router_fn(query, source_ids) -> some of the ids. entail_fn(claim, passage) -> "TRUE",
    "FALSE" or "UNCERTAIN". conflict_check_fn(first, second) -> whether the two contradict each other. relevance_fn(
    question, passage) -> whether it speaks to it. agent_fn(task) -> text; `AgentTask` has the passages.
    doi_resolver(work) -> `ResolvedWork`, a mapping of its fields, or None. execute_fn(snippet) -> `Run` or a mapping.
    screen_fn(question) -> answers by id; `Screen` has the questions, and what they are about.
    llm_fn(prompt) -> text: takes every question that has no callable of its own.
    """

    tier_classify_fn: Callable[[str], Said] | None
    clarify_fn: Callable[[str, str], Said] | None
    outline_fn: Callable[[str], Said] | None
    router_fn: Callable[[str, list[str]], Said] | None
    entail_fn: Callable[[str, str], Said] | None
    conflict_check_fn: Callable[[str, str], Said] | None
    relevance_fn: Callable[[str, str], Said] | None
    agent_fn: Callable[[AgentTask], Said] | None
    doi_resolver: Callable[[Work], Said] | None
    execute_fn: Callable[[Snippet], Said] | None
    screen_fn: Callable[[Screen], Said] | None
    llm_fn: Callable[[str], Said] | None


NAMES: Mapping[DelegationKind, str] = {
    DelegationKind.TIER_CLASSIFY: "tier_classify_fn",
    DelegationKind.CLARIFY: "clarify_fn",
    DelegationKind.OUTLINE_CONFIRM: "outline_fn",
    DelegationKind.ROUTE: "router_fn",
    DelegationKind.ENTAIL: "entail_fn",
    DelegationKind.CONFLICT_CHECK: "conflict_check_fn",
    DelegationKind.RELEVANCE_JUDGE: "relevance_fn",
    DelegationKind.AGENT_TASK: "agent_fn",
    DelegationKind.DOI_RESOLVE: "doi_resolver",
    DelegationKind.EXECUTE: "execute_fn",
    DelegationKind.SCREEN: "screen_fn",
}

# What a language model cannot know: what code does, what a person wants, and which DOI a register holds for a work.
NOT_FOR_A_MODEL = frozenset(
    {DelegationKind.EXECUTE, DelegationKind.OUTLINE_CONFIRM, DelegationKind.DOI_RESOLVE}
)


def given(delegates: Delegates, kind: DelegationKind) -> Callable[..., object] | None:
    """Return the callable for a kind, None when there is none."""
    found = cast("Mapping[str, Callable[..., object] | None]", delegates)
    return found.get(NAMES[kind])


def kinds_of(delegates: Delegates) -> tuple[DelegationKind, ...]:
    """Return what these callables can answer, in the contract's order: the `delegate` field of a request."""
    has_model = delegates.get("llm_fn") is not None
    return tuple(
        kind
        for kind in DelegationKind
        if given(delegates, kind) is not None or (has_model and kind not in NOT_FOR_A_MODEL)
    )


async def replied(question: Question, ask: Callable[..., object], call: Call) -> DelegationReply:
    """Return the reply that a callable's answer makes; one that has none declines.

    Raises:
        TypeError, ValueError: it returned what makes no answer.
    """
    said = await _said(question, ask, call)
    if said is None:
        return DelegationReply(decline=True)
    kind = DelegationKind(str(question.__struct_config__.tag))
    typed = msgspec.convert(said, ANSWERS[kind])
    return DelegationReply(answer=msgspec.to_builtins(typed))


async def _said(
    question: Question, ask: Callable[..., object], call: Call
) -> Mapping[str, object] | None:
    match question:
        case TierClassify() | Clarify() | OutlineConfirm() | Route() | AgentTask() | Screen():
            return await _one(question, ask, call)
        case _:
            return await _many(question, ask, call)


async def _one(
    question: TierClassify | Clarify | OutlineConfirm | Route | AgentTask | Screen,
    ask: Callable[..., object],
    call: Call,
) -> Mapping[str, object] | None:
    name, arguments = _asked(question)
    said = await call(ask, arguments)
    if said is None:
        return None
    return {name: list(cast("Sequence[object]", said)) if name == "sources" else said}


def _asked(
    question: TierClassify | Clarify | OutlineConfirm | Route | AgentTask | Screen,
) -> tuple[str, Sequence[object]]:
    """Return the property of the answer that a callable's value becomes, and what it is called with."""
    match question:
        case TierClassify():
            return "tier", (question.query,)
        case Clarify():
            return "text", (question.text, question.query)
        case OutlineConfirm():
            return "outline", (question.outline,)
        case Route():
            return "sources", (question.query, [each.id for each in question.candidates])
        case AgentTask():
            return "text", (question,)
        case Screen():
            return "answers", (question,)


async def _many(
    question: ConflictCheck | Entail | DoiResolve | Execute | RelevanceJudge,
    ask: Callable[..., object],
    call: Call,
) -> Mapping[str, object]:
    match question:
        case ConflictCheck():
            pairs = [(each.first.text, each.second.text) for each in question.pairs]
            said = [await call(ask, each) for each in pairs]
            return {"opinions": ["contradict" if each else "agree" for each in said]}
        case Entail():
            claims = [(each.claim, each.passage) for each in question.pairs]
            return {"verdicts": [await call(ask, each) for each in claims]}
        case DoiResolve():
            works = [await call(ask, (each,)) for each in question.works]
            return {"works": [_as(ResolvedWork, each) for each in works]}
        case Execute():
            runs = [await call(ask, (each,)) for each in question.snippets]
            return {"runs": [_as(Run, each) or {"ran": False} for each in runs]}
        case RelevanceJudge():
            relevant = [
                each.number
                for each in question.passages
                if await call(ask, (question.question, each.text))
            ]
            return {"relevant": relevant}


def _as(kind: type[ResolvedWork] | type[Run], value: object) -> object:
    return None if value is None else msgspec.to_builtins(msgspec.convert(value, kind))
