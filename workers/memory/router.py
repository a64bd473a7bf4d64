"""The router: the only one that runs tools. A planner proposes; here it is checked, run, put together and reported.

Every candidate of every channel passes one check of its scope. A tool that fails takes nothing from the others; what is
missing is said, in codes that never repeat a query or a text. Nothing is raised because of a tool, a planner or a
reranker.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct, structs
from signal_search.contracts.research import EvidenceChunk, RouterResult, ScopeKey, ToolTrace
from signal_search.errors import Invalid

from infra.clock import Clock
from workers.memory.admission import TOOL_ERRORS, Admission, refusal
from workers.memory.allowance import Allowance, Counted
from workers.memory.channel import BadCandidates, checked
from workers.memory.fusing import fuse_channels, identity
from workers.memory.plan import MAX_CALLS, Plan, Planner, Rounds, RulePlanner, by_rules, wrong_with
from workers.memory.reading import planner_code
from workers.memory.reranking import Reranker
from workers.memory.tool import Retrieved, Tool, ToolFailed, capability

ACCEPTED: Final = "accepted"


class RouterRules(Struct, frozen=True, kw_only=True):
    """What the router goes by. max_calls: of one question, refused ones counted. depth: candidates of one channel."""

    admission: Admission = Admission()
    max_calls: int = MAX_CALLS
    depth: int = 100


@dataclass
class _Run:
    """What one question has come to so far."""

    query: str
    scope: ScopeKey
    allowance: Allowance
    channels: list[tuple[EvidenceChunk, ...]] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    traces: list[ToolTrace] = field(default_factory=list)
    rejections: list[str] = field(default_factory=list)
    degradations: list[str] = field(default_factory=list)
    is_partial: bool = False
    calls: int = 0
    leaks: int = 0

    def degrade(self, reason: str, *, partial: bool = True) -> None:
        self.degradations.append(reason)
        self.is_partial = self.is_partial or partial

    def result(self, evidence: Sequence[EvidenceChunk]) -> RouterResult:
        return RouterResult(
            scope=self.scope,
            evidence=tuple(evidence),
            partial=self.is_partial,
            traces=tuple(self.traces),
            rejections=tuple(self.rejections),
            degradations=tuple(self.degradations),
            scope_leak_count=self.leaks,
        )


class Router:
    """Answers from registered tools; several threads may use one."""

    def __init__(
        self,
        tools: Sequence[Tool],
        clock: Clock,
        *,
        planner: Planner | None = None,
        reranker: Reranker | None = None,
        rules: RouterRules | None = None,
    ) -> None:
        """Register `tools`; without a planner the rules plan, without a reranker the fused order stays.

        Raises:
            Invalid: two tools have one name.
        """
        self._tools = {tool.name: tool for tool in tools}
        if len(self._tools) != len(tools):
            raise Invalid("Two tools have the same name.", field="tools")
        self._clock = clock
        self._planner = planner or RulePlanner()
        self._reranker = reranker
        self._rules = rules or RouterRules()

    def retrieve(
        self,
        query: str,
        scope: ScopeKey,
        *,
        tool_rounds: object = None,
        limit: int | None = None,
        allowance: Allowance | None = None,
    ) -> RouterResult:
        """Return evidence of exactly `scope`, best first, at most `limit`; `tool_rounds` is a plan of the caller's own.

        allowance: who counts rounds and calls; without one they are counted here, by the rules.

        Raises:
            Invalid: the query is blank, or the scope is none.
        """
        if not query.strip():
            raise Invalid("The query is blank.", field="query")
        if type(scope) is not ScopeKey:
            raise Invalid("A scope is needed.", field="scope")
        run = _Run(query.strip(), scope, allowance or Counted(self._rules.max_calls))
        rounds = self._planned(run) if tool_rounds is None else self._given(run, tool_rounds)
        if rounds is None:
            return run.result(())
        self._run_rounds(run, rounds)
        return run.result(self._ordered(run)[:limit])

    # --- the plan ---

    def _given(self, run: _Run, rounds: object) -> Rounds | None:
        wrong = wrong_with(rounds, self._tools)
        if wrong is None:
            return tuple(tuple(each) for each in rounds)  # type: ignore[attr-defined]  # checked just now
        reason = f"manual_{wrong}"
        run.traces.append(_trace(-1, "plan", reason))
        run.rejections.append(f"plan:{reason}")
        run.degrade(reason)
        return None

    def _planned(self, run: _Run) -> Rounds:
        offered = tuple((name, capability(name)) for name in self._tools)
        plan = self._planner.plan(run.query, offered)
        wrong = wrong_with(plan.rounds, self._tools)
        if wrong is not None:
            plan = Plan((by_rules(run.query, list(self._tools)),), planner_code(wrong))
        if plan.degradation:
            run.degrade(plan.degradation, partial=False)
        elif plan.is_models:
            run.traces.append(_trace(-1, "planner", "planner_accepted", accepted=True))
        return plan.rounds

    # --- the calls ---

    def _run_rounds(self, run: _Run, rounds: Rounds) -> None:
        for index, names in enumerate(rounds):
            known = len(run.seen)
            has_run = not names
            if not run.allowance.round(index + 1):
                run.degrade("budget_exhausted")
                return
            for name in names:
                if not run.allowance.call(run.calls + 1):
                    run.degrade("budget_exhausted")
                    return
                run.calls += 1
                has_run = self._call(run, index, name) or has_run
            if has_run and len(run.seen) == known:
                run.degrade("no_new_evidence")
                return
        # A round in which every tool was refused says nothing about what another would find; the last one does.
        if rounds and not run.seen:
            run.degrade("no_new_evidence")

    def _call(self, run: _Run, index: int, name: str) -> bool:
        """Run one tool and note what came of it; return whether it was admitted."""
        tool = self._tools[name]
        began = self._clock.monotonic()
        try:
            refused = refusal(self._rules.admission, tool, run.scope, self._now)
            if refused is not None:
                run.traces.append(_trace(index, name, refused))
                run.rejections.append(f"{name}:{refused}")
                return False
        except ToolFailed as error:
            run.traces.append(_trace(index, name, error.reason))
            run.degrade(f"{error.reason}:{name}")
            return False
        chunks, reason, skipped = self._asked(run, tool)
        spent_ms = max(0.0, (self._clock.monotonic() - began) * 1000)
        is_accepted = reason == ACCEPTED
        run.traces.append(
            ToolTrace(
                round_index=index,
                tool_name=name,
                accepted=is_accepted,
                candidate_count=len(chunks),
                duration_ms=round(spent_ms, 3),
                reason=reason,
                skipped=skipped,
            )
        )
        if not is_accepted:
            if reason == "scope_mismatch":
                run.rejections.append(f"{name}:{reason}")
            run.degrade(f"{reason}:{name}")
        run.channels.append(chunks)
        run.seen.update(each.chunk_id for each in chunks)
        return True

    def _asked(self, run: _Run, tool: Tool) -> tuple[tuple[EvidenceChunk, ...], str, int]:
        try:
            found: object = tool.retrieve(run.query, run.scope)
            if not isinstance(found, Retrieved):
                return (), "invalid_tool_result", 0
            return checked(found, run.scope, self._rules.depth), ACCEPTED, found.skipped
        except ToolFailed as error:
            return (), error.reason, 0
        except BadCandidates as error:
            run.leaks += error.leaks
            return (), error.reason, 0
        except TOOL_ERRORS:
            return (), "tool_error", 0

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC)

    # --- the order ---

    def _ordered(self, run: _Run) -> tuple[EvidenceChunk, ...]:
        fused = fuse_channels(run.channels)
        if fused.has_conflict:
            run.degrade("hybrid_error")
        if self._reranker is None or not fused.chunks:
            return fused.chunks
        try:
            reranked = self._reranker.rerank(run.query, fused.chunks)
        except TOOL_ERRORS:
            run.degrade("reranker_error", partial=False)
            return fused.chunks
        if not _is_same(fused.chunks, reranked.chunks):
            run.degrade("reranker_invalid_result", partial=False)
            return fused.chunks
        if reranked.degradation:
            run.degrade(reranked.degradation, partial=False)
        return reranked.chunks


def _is_same(before: Sequence[EvidenceChunk], after: Sequence[EvidenceChunk]) -> bool:
    """Tell whether a new order has the same chunks, each unchanged but for score and reason."""
    if any(type(each) is not EvidenceChunk for each in after):
        return False
    plain = [structs.replace(each, rerank_score=None, rerank_reason=None) for each in after]
    known = {each.chunk_id: each for each in before}
    return (
        len(after) == len(before)
        and {each.chunk_id for each in after} == set(known)
        and all(
            identity(each) == identity(known[each.chunk_id])
            and each.metadata == known[each.chunk_id].metadata
            for each in plain
        )
    )


def _trace(index: int, name: str, reason: str, *, accepted: bool = False) -> ToolTrace:
    return ToolTrace(
        round_index=index,
        tool_name=name,
        accepted=accepted,
        candidate_count=0,
        duration_ms=0.0,
        reason=reason,
    )
