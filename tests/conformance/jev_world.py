"""The scripted world of the adaptive search's cases: sources and a judge that answer as a case says."""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import Any

import msgspec
from signal_search.contracts.adaptive import AdaptiveRequest
from signal_search.contracts.adaptive_plan import AdaptiveFrame, ScreenLimits
from signal_search.contracts.judging import (
    ChoiceQuestion,
    Judgements,
    JudgeRequest,
    NoulQuestion,
    Question,
)

from scoring.screening.targets import targets_of
from workers.screening.actions import Begin, Found, Judge, Reply, Row, Search, Searches, SourceStats
from workers.screening.answers import read_answers
from workers.screening.loop import screen
from workers.screening.state import LoopState, begin

Case = dict[str, Any]
TODAY = datetime(2026, 8, 1, tzinfo=UTC).date()
LIMITS = {
    "maxRounds": "rounds",
    "maxSearchCalls": "searches",
    "maxJevCalls": "judge_calls",
    "maxJevHttpAttempts": "http_attempts",
    "maxJevInputTokens": "input_tokens",
    "maxPoolRowsPerRound": "pool",
    "minPoolRowsPerRound": "least_pool",
    "maxSourceJudgeCandidatesPerRequest": "batch_size",
    "maxSourceJudgeCandidatesPerQuestion": "batch_per_target",
    "maxSourceJudgeMicroBatches": "batches",
    "maxSourceAssessmentAttempts": "review_attempts",
    "maxNoProgressRounds": "idle_rounds",
    "engineFailureThreshold": "source_failures",
    "maxStateChars": "state_chars",
    "maxRequestChars": "request_chars",
    "maxWarnings": "warnings",
}


class World:
    """One case run to its end; `calls` keeps what was asked of it."""

    def __init__(self, case: Case, harness: Case) -> None:
        self._case = case
        self._harness = harness
        self._phase_calls: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()
        self.searches: list[Case] = []
        self.requests: list[Case] = []
        today = date.fromisoformat(case["now"][:10]) if "now" in case else TODAY
        request = msgspec.convert(case["input"], AdaptiveRequest)
        self.state = begin(self._frame(request, today))

    def _frame(self, request: AdaptiveRequest, today: date) -> AdaptiveFrame:
        limits = {LIMITS[name]: each for name, each in self._case.get("limits", {}).items()}
        return AdaptiveFrame(
            targets=targets_of(request, today),
            driver="none" if self._case.get("no_judge") else "systemone",
            limits=ScreenLimits(**limits),
            offered=tuple(
                self._case["engines"] if "engines" in self._case else self._harness["engines"]
            ),
            today=today.isoformat(),
        )

    def run(self) -> LoopState:
        if self._case.get("cancelled"):
            self.state.stop = "cancelled"
            return self.state
        loop, reply = screen(self.state), None
        try:
            while True:
                action = loop.send(reply)
                reply = self._answer(action)
        except StopIteration:
            return self.state

    def _answer(self, action: Begin | Searches | Judge) -> Reply:
        match action:
            case Searches():
                return tuple(self._search(each) for each in action.searches)
            case Judge():
                return self._judge(action.request)
            case _:
                return None

    # --- searches ---

    def _search(self, search: Search) -> Found:
        number = len(self.searches) + 1
        self.searches.append(
            {
                "query": search.query,
                "depth": search.depth,
                "engineList": list(search.sources),
                "engines": list(search.sources),
                "maxResults": search.quota,
                "maxResultsCap": search.most,
                "recency": search.recency,
            }
        )
        rule = next(each for each in self._case["search"] if _covers(each, number))
        if "error" in rule:
            return Found(error="search_failed")
        stats = msgspec.convert(rule.get("engine_stats", {}), SourceStats)
        rows = [row for each in rule["rows"] for row in self._rows(each, number, search.quota)]
        return Found(rows=tuple(rows), stats=dict.fromkeys(search.sources, stats))

    def _rows(self, given: Case, number: int, quota: int) -> list[Row]:
        if "range" in given:
            return [self._row(at, given) for at in range(*given["range"])]
        if "range_by_quota" in given:
            first = (number - 1) * given["stride"]
            return [self._row(at, given) for at in range(first, first + quota)]
        return [self._row(given["i"] if "i" in given else number + given["by_call"], given)]

    def _row(self, number: int, given: Case) -> Row:
        template = self._harness["row_template"]
        values = {
            name: given.get(name, str(template[name]).replace("{i}", str(number)))
            for name in ("url", "title", "snippet")
        }
        extra = given.get("extra_content")
        content = f"{values['snippet']}\n\n{extra}" if extra else given.get("content", "")
        published = given.get("published") or ""
        return Row(**values, content=content, published=published, score=template["score"])

    # --- the judge ---

    def _judge(self, request: JudgeRequest) -> Judgements:
        phase, state = request.phase, msgspec.to_builtins(request.state)
        self._phase_calls[phase] += 1
        size = len(msgspec.json.encode(request.state).decode())
        whole = size + len(msgspec.json.encode(request.questions).decode()) + 1024
        told = [_facts(name, state) for name in request.questions]
        self.requests.append(
            {
                "phase": phase,
                "state": state,
                "ids": sorted(request.questions),
                "fields": sorted({each["field"] for each in told}),
                "fits": size <= 48_000 and whole <= 60_000,
            }
        )
        if phase in self._case.get("fail", []):
            return Judgements(error="server_error", attempts=3)
        raw = {}
        for (name, question), facts in zip(request.questions.items(), told, strict=True):
            if phase == "keyword_judge":
                self.asked[facts["keyword"]] += 1
            answer = self._answered(question, facts, phase)
            if answer is not None:
                raw[name] = answer
        return read_answers(request.questions, raw)

    def _answered(self, question: Question, facts: Case, phase: str) -> Case | None:
        rules = self._case.get("judge", [])
        rule: Case = next((each for each in rules if self._holds(each, facts, phase)), {})
        value = rule.get("value", self._default(question, facts, phase))
        if value == "__omit__":
            return None
        if isinstance(question, NoulQuestion):
            return {"type": "noul", "noul": value}
        sure = rule.get("confidence", self._harness["judge_defaults"]["choice_confidence"])
        return {"type": "choice", "choice": value, "confidence": sure}

    def _default(self, question: Question, facts: Case, phase: str) -> Any:
        defaults = self._harness["judge_defaults"]
        if phase == "keyword_judge":
            return defaults["keyword_judge"]
        if phase == "plan":
            first = next(iter(question.criteria)) if isinstance(question, ChoiceQuestion) else None
            return first or defaults["plan_engine"]
        return defaults[facts["field"]]

    def _holds(self, rule: Case, facts: Case, phase: str) -> bool:
        checks: dict[str, Callable[[Any], bool]] = {
            "phase": lambda wanted: wanted == phase,
            "field": lambda wanted: wanted == facts["field"],
            "keyword_index": lambda wanted: wanted == facts.get("keyword_index"),
            "question": lambda wanted: wanted == facts.get("question"),
            "url_contains": lambda wanted: str(wanted) in facts.get("url", ""),
            "source_has_published": lambda wanted: wanted == bool(facts.get("published")),
            "phase_call_lte": lambda wanted: self._phase_calls[phase] <= int(wanted),
            "search_calls_lte": lambda wanted: len(self.searches) <= int(wanted),
            "asked_gte": lambda wanted: self.asked[facts.get("keyword", "")] >= int(wanted),
        }
        conditions = {name: each for name, each in rule.items() if name in checks}
        strange = set(rule) - set(checks) - {"value", "confidence"}
        assert not strange, f"unknown conditions {strange}"
        return all(checks[name](wanted) for name, wanted in conditions.items())


def _covers(rule: Case, number: int) -> bool:
    return rule.get("call", number) == number and number <= rule.get("call_lte", number)


def _facts(name: str, state: Mapping[str, Any]) -> Case:
    """What an answer id is about, in the words of the cases."""
    head, first, *rest = name.split(".")
    if head == "kw":
        at = int(rest[0])
        target = next(each for each in state["questions"] if each["id"] == first)
        keyword = target["keywords"][at]
        return {"field": "keyword", "question": first, "keyword_index": at, "keyword": keyword}
    if head != "src":
        return {"field": rest[0] if rest else first, "question": first}
    candidate = next(each for each in state["candidates"] if each["id"] == first)
    source = state["sources"][candidate["source_index"]]
    facts = {
        "question": candidate["for_question"],
        "url": source["url"],
        "published": source["published"],
    }
    if rest[-1] != "match":
        return {**facts, "field": rest[0]}
    kind = "keyword_match" if rest[0].startswith("kw") else "topic_match"
    return {**facts, "field": kind, "keyword_index": int(rest[0].lstrip("kwtopic"))}
