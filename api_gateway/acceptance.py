"""The acceptance of generation: one fixed wish, and whether the program for it does what was wished on 168 papers.

Offline it checks our own side with the answer of a model that does its work: no configuration is read, nothing is sent.
Live it asks the configured model, with the limits of any generation and on nobody's quota. What comes out is codes and
counts: never a key, an address or the model's words.
"""

import asyncio

from msgspec import UNSET, Struct, UnsetType
from signal_search.contracts.generation import ModelUsage
from signal_search.contracts.scorer import ScorerProgram
from signal_search.errors import NoJudge, SignalSearchError

from api_gateway.generate import Generation
from infra.clock import Clock
from infra.llm import JudgeClient
from infra.settings import Settings
from scoring.expression.compiler import compile_program
from scoring.generation.acceptance import REFERENCE_ANSWER, VERSION, WISH, failure, samples
from scoring.generation.reading import read_program

PASSED = "passed"


class Acceptance(Struct, frozen=True, kw_only=True):
    """How it went. code: `passed`, what is wrong with the ranking, or the code of the error that ended it."""

    passed: bool
    live: bool
    code: str
    version: str = VERSION
    samples: int = len(samples())
    usage: ModelUsage = ModelUsage(llm_tokens=0)
    scorer: ScorerProgram | UnsetType = UNSET


def accept_offline() -> Acceptance:
    """Return whether reading, compiling and ranking bring the right answer to the right order."""
    program = read_program(REFERENCE_ANSWER).program
    wrong = failure(program)
    return _acceptance(wrong, program.normal, tokens=0, live=False)


def accept_live(settings: Settings, clock: Clock) -> Acceptance:
    """Return whether the configured model writes a program that ranks as wished; costs what the model costs."""
    return asyncio.run(_live(settings, clock))


async def _live(settings: Settings, clock: Clock) -> Acceptance:
    if not settings.search.generates:
        return Acceptance(passed=False, live=True, code=NoJudge.code)
    judge = JudgeClient(settings, clock)
    generation = Generation(settings.search, judge.complete)
    try:
        made = await generation.make(WISH)
    except SignalSearchError as error:
        usage = ModelUsage(llm_tokens=generation.allowance.reported)
        return Acceptance(passed=False, live=True, code=error.code, usage=usage)
    finally:
        await judge.aclose()
    wrong = failure(compile_program(made.scorer))
    return _acceptance(wrong, made.scorer, tokens=made.usage.llm_tokens, live=True)


def _acceptance(wrong: str, scorer: ScorerProgram, *, tokens: int, live: bool) -> Acceptance:
    return Acceptance(
        passed=not wrong,
        live=live,
        code=wrong or PASSED,
        usage=ModelUsage(llm_tokens=tokens),
        scorer=UNSET if wrong else scorer,
    )
