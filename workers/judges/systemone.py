"""Driver `systemone`: the typed protocol over HTTP."""

import asyncio

import msgspec
from signal_search.contracts.judging import Judgements, JudgeRequest

from infra.clock import Clock
from infra.settings import Settings
from infra.systemone import Pause, ask_systemone
from workers.judges.port import GoesOn, always
from workers.screening.answers import read_answers


class SystemOneJudge:
    """`Judge` at the configured address."""

    def __init__(self, settings: Settings, clock: Clock, pause: Pause = asyncio.sleep) -> None:
        """Ask as `settings.adaptive` says; `pause` waits between attempts."""
        self._settings = settings
        self._clock = clock
        self._pause = pause

    def judge(
        self, request: JudgeRequest, *, left_s: float, goes_on: GoesOn = always
    ) -> Judgements:
        """Return the answers; the error is a code of the guide's table."""
        body = {
            "state": request.state,
            "model": self._settings.adaptive.judge_model,
            "questions": request.questions,
        }
        sheet = ask_systemone(
            self._settings,
            self._clock,
            msgspec.json.encode(body),
            left_s=left_s,
            pause=self._pause,
            goes_on=goes_on,
        )
        if sheet.error:
            return Judgements(error=sheet.error, attempts=sheet.attempts)
        return read_answers(
            request.questions, sheet.answers, attempts=sheet.attempts, tokens=sheet.tokens
        )
