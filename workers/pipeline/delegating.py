"""Questions of a job to its caller: put once, waited for until their deadline, then the job goes on by its rules.

A question is an entry of the log and so is its end. Answer and deadline are written under the same key, so that exactly
one of them stands, whoever is first. Nothing is asked that the request does not offer.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
from signal_search.contracts.budget import Budget
from signal_search.contracts.delegation import ANSWERS, Answer, Delegation, Question
from signal_search.contracts.query import DelegationKind
from signal_search.contracts.trace import Delegated, DelegationAnswered, DelegationLapsed
from signal_search.errors import Postpone

from workers.pipeline.answer_schema import kind_of, schema_of
from workers.pipeline.state import AskedView, JobView, fold, spent_on_answers
from workers.toolbox import Toolbox

_OF_A_PERSON = frozenset({DelegationKind.CLARIFY, DelegationKind.OUTLINE_CONFIRM})


@dataclass(frozen=True)
class Reach:
    """Until when questions may be open: epoch milliseconds, and the share of the time until then."""

    until_ms: int
    share: float = 1.0


@dataclass(frozen=True)
class Offer:
    """What a caller said that it can answer, and how much may be asked of it (None: as the settings say).

    most: of a kind of job that bounds its questions itself, in place of the settings' bound.
    """

    kinds: tuple[DelegationKind, ...]
    questions: int | None = None
    tokens: int | None = None
    most: int | None = None


def offer_of(kinds: tuple[DelegationKind, ...], budget: int | Budget | None) -> Offer:
    """Return the offer of a request of any kind; its own budget bounds it."""
    own = budget if isinstance(budget, Budget) else Budget()
    return Offer(kinds, own.judge_requests, own.model_tokens)


class Asking:
    """The questions of one job, of whatever kind. The view it holds is read again after every entry it writes."""

    def __init__(
        self, tools: Toolbox, job_id: str, view: JobView, reach: Reach, offer: Offer
    ) -> None:
        """Ask for a job whose log says `view`."""
        self._tools = tools
        self._job_id = job_id
        self._reach = reach
        self._offer = offer
        self.view = view

    def offers(self, kind: DelegationKind) -> bool:
        """Return whether the caller said that it can answer questions of this kind."""
        return kind in self._offer.kinds

    def answer(self, name: str, question: Question) -> Answer | None:
        """Return the answer to one question, None when the job has to do without.

        Raises:
            Postpone: it is asked, and the answer may still come.
        """
        return self.answers({name: question})[name]

    def answers(self, questions: Mapping[str, Question]) -> dict[str, Answer | None]:
        """Ask several questions at once and return what was answered.

        Raises:
            Postpone: some are open; the job looks again when one is answered, and at their first deadline.
        """
        wanted = {name: each for name, each in questions.items() if self.offers(kind_of(each))}
        for name, question in wanted.items():
            if name not in self.view.delegations:
                self._put(name, question)
        self._close_overdue(wanted)
        waiting = [self.view.delegations[name] for name in wanted if is_open(self.view, name)]
        if waiting:
            raise Postpone(min(_deadline_of(each) for each in waiting))
        return {name: answer_in(self.view, name) for name in questions}

    def _put(self, name: str, question: Question) -> None:
        now_ms = self._tools.clock.now_ms()
        deadline_ms = self._deadline(kind_of(question), now_ms)
        kind = kind_of(question)
        if deadline_ms - now_ms < self._tools.settings.delegation.least_s * 1000:
            self._append(_lapsed(name, kind, "no_time", now_ms))
        elif not self._may_ask():
            self._append(_lapsed(name, kind, "budget", now_ms))
        else:
            delegation = Delegation(
                id=name,
                kind=kind,
                question=question,
                answer_schema=schema_of(question),
                deadline_ms=deadline_ms,
            )
            self._append(Delegated(at_ms=now_ms, key=f"{name}:asked", delegation=delegation))

    def _close_overdue(self, names: Mapping[str, Question]) -> None:
        now_ms = self._tools.clock.now_ms()
        for name, question in names.items():
            known = self.view.delegations.get(name)  # None: the job has ended meanwhile
            if known and known.closed is None and _deadline_of(known) <= now_ms:
                self._append(_lapsed(name, kind_of(question), "deadline", now_ms))

    def _append(self, entry: Delegated | DelegationLapsed) -> None:
        self._tools.log.append(self._job_id, entry)
        # Read again: an answer that came first stands in the place of what was just written.
        self.view = fold(each for _id, each in self._tools.log.read(self._job_id))

    def _deadline(self, kind: DelegationKind, now_ms: int) -> int:
        figures = self._tools.settings.delegation
        # A caller answers one after the other: each question has its time after those that are open already.
        before = sum(is_open(self.view, name) for name in self.view.delegations)
        wait_s = figures.person_s if kind in _OF_A_PERSON else figures.answer_s * (before + 1)
        most_ms = (self._reach.until_ms - now_ms) * self._reach.share
        return now_ms + int(min(wait_s * 1000, most_ms))

    def _may_ask(self) -> bool:
        """Return whether the job's own limits leave room: of questions, and of tokens that were reported for them."""
        asked, tokens = spent_on_answers(self.view)
        offer, usual = self._offer, self._tools.settings.delegation.max_questions
        most = usual if offer.most is None else offer.most
        if offer.questions is not None:
            most = min(most, offer.questions)
        return asked < most and (offer.tokens is None or tokens < offer.tokens)


def is_open(view: JobView, name: str) -> bool:
    """Return whether a question was asked and neither answered nor given up."""
    known = view.delegations.get(name)
    return known is not None and known.closed is None


def answer_in(view: JobView, name: str) -> Answer | None:
    """Return the answer that stands in a log, None without one."""
    known = view.delegations.get(name)
    end = known.closed if known is not None else None
    if not isinstance(end, DelegationAnswered):
        return None
    return msgspec.convert(end.answer, ANSWERS[end.kind])


def waited_ms(view: JobView) -> int:
    """Return how long the job waited for answers so far, as if it asked one question at a time."""
    return sum(
        each.closed.at_ms - each.asked.at_ms
        for each in view.delegations.values()
        if each.asked is not None and each.closed is not None
    )


def _deadline_of(known: AskedView) -> int:
    return known.asked.delegation.deadline_ms if known.asked is not None else 0


def _lapsed(name: str, kind: DelegationKind, reason: str, now_ms: int) -> DelegationLapsed:
    return DelegationLapsed(
        at_ms=now_ms, key=f"{name}:closed", delegation_id=name, kind=kind, reason=reason
    )
