"""Which judge an adaptive search has here: by setting, and only when it is whole. There is no fallback to another."""

from signal_search.contracts.adaptive_plan import JudgeDriver
from signal_search.errors import Broken

from infra.clock import Clock
from infra.settings import Settings
from workers.judges.openai_chat import ChatJudge
from workers.judges.port import Judge
from workers.judges.rule import RuleJudge
from workers.judges.systemone import SystemOneJudge


def configured_driver(settings: Settings) -> JudgeDriver:
    """Return the driver of this deployment, `none` when it is switched off or something of it is missing."""
    wanted: JudgeDriver = settings.adaptive.judge
    if wanted == "systemone" and not settings.adaptive.has_judge_address:
        return "none"
    if wanted == "openai_chat" and not settings.search.has_model:
        return "none"
    return wanted


def open_judge(driver: JudgeDriver, settings: Settings, clock: Clock) -> Judge:
    """Return a judge that answers at once.

    Raises:
        Broken: there is none of that name, or it answers later (`delegate`).
    """
    if driver == "systemone":
        return SystemOneJudge(settings, clock)
    if driver == "openai_chat":
        return ChatJudge(settings, clock)
    if driver == "rule":
        return RuleJudge()
    raise Broken
