"""Review in micro-batches: as much as the budget allows while every open target keeps room for its decision."""

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from signal_search.contracts.adaptive_plan import Target
from signal_search.contracts.adaptive_result import AdaptiveStop
from signal_search.contracts.judging import Judgements, JudgeRequest, Questions

from scoring.screening.figures import CONFIDENCE_AT_LEAST
from scoring.screening.judgement import Judgement, Kind
from workers.screening.actions import Action, Reply
from workers.screening.asking import ask, stop_of
from workers.screening.envelope import chars, estimate, sizes_fit
from workers.screening.material import assessed, open_keywords, to_review
from workers.screening.pool import Association
from workers.screening.questions import KINDS, REVIEW_RULES, about, review_questions
from workers.screening.state import LoopState

_COMMA = 1
_KINDS: dict[str, Kind] = {
    "direct": "direct",
    "lead": "lead",
    "counterevidence": "counterevidence",
    "context": "context",
}


class Batch(NamedTuple):
    """What one request reviews."""

    candidates: list[Association]
    request: JudgeRequest


def review(state: LoopState) -> Generator[Action, Reply, AdaptiveStop | None]:
    """Review what is pending of the open targets; a stop when the judge failed."""
    still_open = [
        one.target for one in state.targets if open_keywords(state, one, "continue", "pending")
    ]
    searching = sum(bool(open_keywords(state, one, "continue")) for one in state.targets)
    for number in range(state.limits.batches):
        batch = next_batch(state, still_open, number)
        if batch is None:
            return None
        if not _has_headroom(state, batch.request, searching):
            text = "review paused: the rest of the budget is kept for decisions"
            state.remark("drain_paused_for_headroom", text)
            return None
        for each in batch.candidates:
            each.attempts[each.attempt] = each.attempts.get(each.attempt, 0) + 1
            each.round = state.round
        said = yield from ask(state, batch.request)
        if said is not None and said.error:
            return stop_of(said.error)
        take(state, batch.candidates, said or Judgements())
    return None


def _has_headroom(state: LoopState, request: JudgeRequest, searching: int) -> bool:
    limits, spent = state.limits, state.spent
    tokens = max(spent.estimated, spent.reported) + estimate(request)
    return (
        spent.calls + 1 + searching <= limits.judge_calls
        and spent.attempts + limits.attempts_per_call * (1 + searching) <= limits.http_attempts
        and tokens + searching * limits.decision_tokens <= limits.input_tokens
    )


def take(state: LoopState, candidates: Sequence[Association], said: Judgements) -> None:
    """Take the answers about candidates; what the judge did not say stays unknown."""
    for each in candidates:
        each.take(_judgement(each, said))
        if assessed(each):
            state.judged.add((each.number, *each.attempt))


def _judgement(each: Association, said: Judgements) -> Judgement:
    prefix, target = f"src.{each.id}", each.target
    kind = said.choices.get(f"{prefix}.kind")
    is_sure = kind is not None and (
        kind.confidence is None or kind.confidence >= CONFIDENCE_AT_LEAST
    )
    return Judgement(
        relevance=said.nouls.get(f"{prefix}.relevance"),
        reading_value=said.nouls.get(f"{prefix}.reading_value"),
        injection=said.nouls.get(f"{prefix}.injection"),
        direction_match=said.nouls.get(f"{prefix}.direction_match"),
        time_match=said.nouls.get(f"{prefix}.time_match"),
        kind=_KINDS.get(kind.choice, "unknown") if kind is not None and is_sure else "unknown",
        keywords={
            name: said.nouls.get(f"{prefix}.kw{at}.match")
            for at, name in enumerate(target.keywords)
        },
        topics={
            topic.id: said.nouls.get(f"{prefix}.topic{at}.match")
            for at, topic in enumerate(target.topics)
        },
    )


# --- batches ----------------------------------------------------------------------------------------------------------


def next_batch(state: LoopState, targets: Sequence[Target], number: int) -> Batch | None:
    """Return the next candidates, a few of every target in turn, as many as fit; None when there are none."""
    lists = [to_review(state, each)[: state.limits.batch_per_target] for each in targets]
    lists = [each for each in lists if each]
    if not lists:
        return None
    first = (state.round - 1 + number) % len(lists)
    turn = [*lists[first:], *lists[:first]]
    longest = max(map(len, turn))
    order = [each[at] for at in range(longest) for each in turn if at < len(each)]
    draft = _Draft(state)
    for each in order:
        if len(draft.candidates) >= state.limits.batch_size or not draft.add(each):
            break
    if not draft.candidates:
        state.remark("review_unfittable", "a text and its questions do not fit one request")
        return None
    return Batch(draft.candidates, draft.request())


class _Draft:
    """A request that grows while it fits. Sizes are added up, so that adding one more costs no second look."""

    def __init__(self, state: LoopState) -> None:
        self._limits = state.limits
        self.candidates: list[Association] = []
        self._targets: dict[str, Target] = {}
        self._sources: dict[int, dict[str, Any]] = {}
        self._entries: list[dict[str, Any]] = []
        self._questions: Questions = {}
        self._state_size = chars(self._state())
        self._question_size = 2

    def add(self, each: Association) -> bool:
        """Add a candidate; False when it does not fit."""
        questions = review_questions(each.id, each.target)
        size = self._state_size + self._growth(each)
        asked = self._question_size + chars(questions)
        if not sizes_fit(size, asked, self._limits):
            return False
        self._state_size, self._question_size = size, asked
        self._targets.setdefault(each.target.id, each.target)
        source = self._sources.setdefault(each.source.number, _told(each, len(self._sources)))
        self._entries.append(_entry(each, source))
        self._questions |= questions
        self.candidates.append(each)
        return True

    def _growth(self, each: Association) -> int:
        """Return by how much the state grows at most."""
        known = self._sources.get(each.source.number)
        size = chars(about(each.target)) + _COMMA if each.target.id not in self._targets else 0
        fragment = chars(_fragment(each)) + _COMMA
        size += fragment if known else chars(_told(each, len(self._sources))) + fragment
        return size + chars(_entry(each, _told(each, len(self._sources)))) + 8

    def request(self) -> JudgeRequest:
        """Return the request."""
        return JudgeRequest(phase="source_judge", state=self._state(), questions=self._questions)

    def _state(self) -> dict[str, Any]:
        shown = [{key: each[key] for key in each if key != "at"} for each in self._sources.values()]
        return {
            "task": "review search results",
            "rules": list(REVIEW_RULES),
            "kinds": KINDS,
            "questions": [about(each) for each in self._targets.values()],
            "sources": shown,
            "candidates": self._entries,
        }


def _told(each: Association, at: int) -> dict[str, Any]:
    source = each.source
    return {
        "at": at,
        "id": f"u{source.number}",
        "url": source.url,
        "title": source.title,
        "domain": urlsplit(source.url).hostname or "",
        "published": source.published or None,
        "fragments": [],
    }


def _fragment(each: Association) -> dict[str, str]:
    return {"text": each.text, "text_basis": each.basis, "text_version": each.version}


def _entry(each: Association, source: dict[str, Any]) -> dict[str, Any]:
    """Return the candidate's entry; its text is added to the source's fragments unless it is there."""
    fragment, fragments = _fragment(each), source["fragments"]
    if fragment not in fragments:
        fragments.append(fragment)
    return {
        "id": each.id,
        "for_question": each.target.id,
        "source_index": source["at"],
        "fragment_index": fragments.index(fragment),
        "text_basis": each.basis,
    }
