"""A scoring program from words: one draft by the operator's model, mended once at most, within time and tokens.

Nothing is searched or ranked here, and there is no program of ours to fall back on: a program that was asked for is
given, or the reason why there is none. What the model reported is kept whatever happens afterwards.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from signal_search.contracts.generation import Generated, GenerateRequest, Message, ModelUsage
from signal_search.errors import JudgeFailed, JudgeTimedOut, NoJudge, Unsupported

from infra.llm import Prompt, charged
from infra.llm_reply import Completion
from infra.settings import Search
from scoring.expression.capabilities import capabilities
from scoring.generation.allowance import Allowance
from scoring.generation.draft import BadDraft
from scoring.generation.keywords import names_unsupported
from scoring.generation.prompt import mending, opening, size_of
from scoring.generation.reading import Explained, read_program

Complete = Callable[[Prompt], Awaitable[Completion]]


class Purse(Protocol):
    """What the calls of one generation are paid from; `Unlimited` where nobody set a limit."""

    async def hold(self, call: int, tokens: int) -> None:
        """Reserve the tokens of a call; raises Busy (`quota_exceeded`) when somebody's limit is reached."""
        ...

    async def settle(self, call: int, tokens: int) -> None:
        """Turn what was held for a call into what it used."""
        ...


class Unlimited:
    """A purse without a limit, for whoever pays the endpoint themselves."""

    async def hold(self, call: int, tokens: int) -> None:
        """Let it be."""

    async def settle(self, call: int, tokens: int) -> None:
        """Let it be."""


@dataclass
class Generation:
    """One request's way to its program. `allowance` knows at any time what was reported."""

    figures: Search
    complete: Complete
    purse: Purse = field(default_factory=Unlimited)
    allowance: Allowance = field(init=False)
    _calls: int = 0

    def __post_init__(self) -> None:
        """Start with nothing used."""
        self.allowance = Allowance(self.figures.scorer_generation_total_tokens)

    async def make(self, request: GenerateRequest) -> Generated:
        """Return the program.

        Raises:
            NoJudge: generation is off here, or no model is configured.
            Unsupported: `unsupported_requirements` by their words, or as the model says; `clarification`;
                `generation_invalid`: not valid when mended either.
            TooLarge: `token_budget_exceeded`: the next call could, or the last one did, use more than the total.
            Busy: `quota_exceeded`: a limit of the token, the tenant or the deployment.
            JudgeFailed, JudgeTimedOut: as `JudgeClient.complete`, or both calls together took too long.
        """
        if not self.figures.generates:
            raise NoJudge
        if names_unsupported(request.requirements):
            message = "The requirements name data that candidates do not have."
            raise Unsupported(message, field="requirements")
        try:
            async with asyncio.timeout(self.figures.scorer_generation_timeout):
                found = await self._draft(request)
        except TimeoutError as error:
            raise JudgeTimedOut from error
        return self._generated(found)

    async def _draft(self, request: GenerateRequest) -> Explained:
        messages = opening(request, _abilities())
        asked = (request.query, request.requirements)
        text = await self._ask(messages)
        try:
            return read_program(text, asked=asked)
        except BadDraft as wrong:
            messages = mending(messages, text, str(wrong))
        text = await self._ask(messages)
        try:
            return read_program(text, asked=asked)
        except BadDraft as wrong:
            message = "The model's program is not valid, and was not when mended either."
            raise Unsupported(message, code="generation_invalid") from wrong

    async def _ask(self, messages: tuple[Message, ...]) -> str:
        output = self.figures.scorer_generation_max_tokens
        cost = self.allowance.reserve(size_of(messages), output)
        prompt = Prompt(
            messages=messages,
            max_tokens=output,
            timeout_s=self.figures.scorer_generation_timeout,
            max_body_bytes=self.figures.scorer_generation_max_response_bytes,
            quick=True,
        )
        completion = await self._paid(prompt, cost)
        self.allowance.check()
        return completion.text

    async def _paid(self, prompt: Prompt, cost: int) -> Completion:
        """Ask and pay what was reported; all that was held when nothing was, since it may have been used."""
        self._calls += 1
        call, used = self._calls, cost
        await self.purse.hold(call, cost)
        try:
            completion = await self.complete(prompt)
            self.allowance.report(completion.tokens)
            used = charged(completion, cost)
        except JudgeFailed as error:
            self.allowance.report(error.tokens)
            used = charged(error, cost)
            raise
        else:
            return completion
        finally:
            await self.purse.settle(call, used)

    def _generated(self, found: Explained) -> Generated:
        return Generated(
            scorer=found.program.normal,
            summary=found.summary,
            warnings=found.warnings,
            scorer_hash=found.program.hash,
            feature_version=found.program.feature_version,
            usage=ModelUsage(llm_tokens=self.allowance.reported),
        )


def _abilities() -> dict[str, Any]:
    return capabilities(generation_available=None)
