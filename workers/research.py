"""The composition root of research memory: settings become stores, indexes and a router over them.

The model is the only thing here that knows the network, and only when it is switched on and its endpoint is allowed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from signal_search.contracts.generation import Message
from signal_search.contracts.memory_index import Indexed
from signal_search.contracts.research import ResearchQuery, RouterResult, ScopeKey
from signal_search.errors import Conflict, NotFound, Unsupported

from infra.clock import Clock
from infra.llm import Prompt, ask
from infra.llm_reply import Completion
from infra.settings import Research, Settings
from workers.memory.admission import Admission
from workers.memory.allowance import Allowance
from workers.memory.embedders import Missing, embedder_of
from workers.memory.grep import Grep, GrepLimits, GrepTool
from workers.memory.index_file import IndexFile
from workers.memory.indexing import IndexLimits, sync
from workers.memory.model_planner import Ask, ModelPlanner
from workers.memory.model_settings import ModelSettings, read_model_settings
from workers.memory.plan import Planner, RulePlanner
from workers.memory.recall import Bm25Tool, MemoryTool, VectorTool
from workers.memory.reranking import FusedOnly, ModelReranker, Reranker, RuleReranker
from workers.memory.router import Router, RouterRules
from workers.memory.scope import make_scope
from workers.memory.store import MemoryStore
from workers.memory.store_file import StoreFile
from workers.memory.tool import Tool, ToolFailed
from workers.memory.vector import Embedder
from workers.memory.words import terms

_MOST_TOKENS = 2048
_MOST_BODY_BYTES = 262_144
_SAID = {
    "embedding_model_mismatch": "The index has vectors of another model; --anew makes it again."
}
_DAMAGED = "The file of the index is damaged, or another scope's."


Put = Callable[[str, Settings, Prompt], Completion]
"""Ask the model of these settings; the name says what for, `plan` or `rerank`. Raises as `infra.llm.ask`."""

Asking = Callable[[str], Ask]
"""The way to ask the model for something of this name."""


@dataclass
class Desk:
    """Research memory of this deployment; opens files as they are needed.

    put: how the model is asked, where somebody counts what that costs; without it the model is just asked.
    """

    settings: Settings
    clock: Clock
    put: Put | None = None

    @property
    def folder(self) -> Path:
        """Return where the files of all scopes are."""
        named = self.settings.research.folder
        return Path(named) if named else self.settings.data_path / "research"

    @property
    def embedder(self) -> Embedder | None:
        """Return the model of the vector channel, None where it is off or not installed; raises as `embedder_of`."""
        figures = self.settings.research
        return None if figures.vectors == "off" else embedder_of(figures.vector_model)

    def store(self, scope: ScopeKey) -> MemoryStore:
        """Return the memories of a scope."""
        return MemoryStore(StoreFile(self.folder, scope), self.clock)

    def index(self, scope: ScopeKey, root: Path, *, anew: bool = False) -> Indexed:
        """Make the index of a scope the state of a folder, all of it `anew` if wanted.

        Raises:
            Invalid: the folder is none.
            Unsupported: the chosen model is not here.
            Conflict: `embedding_model_mismatch`, `index_invalid`: the file there is not one to go on with.
        """
        figures = self.settings.research
        limits = IndexLimits(
            max_files=figures.index_files,
            max_file_bytes=figures.index_file_bytes,
            profile=figures.index_profile,
        )
        file = IndexFile(self.folder, scope)
        try:
            return sync(root, file, self.clock, embedder=self.embedder, limits=limits, anew=anew)
        except ToolFailed as error:
            raise Conflict(_SAID.get(error.reason, _DAMAGED), code=error.reason) from error

    def refresh(self, scope: ScopeKey, *, anew: bool = False) -> Indexed:
        """Make the index of a scope the state of the folder that `research.roots` names for it; else as `index`.

        Raises:
            NotFound: `root_not_found`: the settings name none.
        """
        root = self._root(scope)
        if root is None:
            message = "The settings (research.roots) name no folder for this scope."
            raise NotFound(message, code="root_not_found")
        return self.index(scope, root, anew=anew)

    def answer(
        self,
        query: ResearchQuery,
        root: Path | None = None,
        *,
        allowance: Allowance | None = None,
        offline: bool = False,
    ) -> RouterResult:
        """Answer a question; `root` is a folder that grep reads besides those of the settings.

        offline: no model is asked, whatever the settings say.
        """
        router = self.router(query.scope, root, offline=offline)
        return router.retrieve(
            query.query,
            query.scope,
            tool_rounds=query.tool_rounds,
            limit=query.limit,
            allowance=allowance,
        )

    def router(self, scope: ScopeKey, root: Path | None = None, *, offline: bool = False) -> Router:
        """Return a router over every channel that this scope can have; offline: without a model."""
        figures = self.settings.research
        asking, refusal = (None, "llm_disabled") if offline else self.model()
        rules = RouterRules(
            admission=Admission(max_age_s=figures.max_index_age_s),
            max_calls=figures.max_calls,
            depth=figures.channel_depth,
        )
        return Router(
            self._tools(scope, root),
            self.clock,
            planner=planner_of(asking, refusal),
            reranker=reranker_of(asking, figures),
            rules=rules,
        )

    def model(self) -> "tuple[Asking | None, str]":
        """Return the way to the model, or None and the code of why none may be asked."""
        model = _model(self.settings.research)
        return (None, model.refusal) if model.refusal else (self._asking(model), "")

    def _asking(self, model: ModelSettings) -> Asking:
        """Return a way to ask the model: one connection, no redirects, nothing repeated, everything bounded."""
        update = {
            "agent_base_url": model.base_url,
            "agent_model": model.model,
            "agent_api_key": self.settings.research.llm_api_key,
        }
        search = self.settings.search.model_copy(update=update)
        chosen = self.settings.model_copy(update={"search": search})
        put = self.put or (lambda _name, settings, prompt: ask(settings, self.clock, prompt))

        def named(name: str) -> Ask:
            return lambda system, user: put(name, chosen, _prompt(model, system, user)).text

        return named

    def _tools(self, scope: ScopeKey, root: Path | None) -> list[Tool]:
        depth = self.settings.research.channel_depth
        tools: list[Tool] = [
            MemoryTool(self.folder, self.clock),
            Bm25Tool(self.folder, limit=depth),
        ]
        embedder = self._embedder_or_missing()
        if embedder is not None:
            tools.append(VectorTool(self.folder, embedder, limit=depth))
        folder = root or self._root(scope)
        if folder is not None:
            tools.append(
                GrepTool(Grep(folder, scope, _grep_limits(self.settings.research)), self.clock)
            )
        return tools

    def _embedder_or_missing(self) -> Embedder | None:
        try:
            return self.embedder
        except Unsupported:  # one channel less is no reason to lose the others
            return Missing()

    def _root(self, scope: ScopeKey) -> Path | None:
        for each in self.settings.research.roots:
            if make_scope(each.model_dump(exclude={"path"})) == scope:
                return Path(each.path)
        return None


def _grep_limits(figures: Research) -> GrepLimits:
    return GrepLimits(
        max_results=figures.grep_results,
        max_files=figures.grep_files,
        max_file_bytes=figures.grep_file_bytes,
        profile=figures.grep_profile,
    )


def _model(figures: Research) -> ModelSettings:
    variables: Mapping[str, str] = {
        "ARR_LLM_ENABLED": "true" if figures.llm_enabled else "",
        "ARR_LLM_BASE_URL": figures.llm_base_url,
        "ARR_LLM_MODEL": figures.llm_model,
        "ARR_LLM_TIMEOUT_SECONDS": str(figures.llm_timeout_s),
        "ARR_SILICONFLOW_API_KEY": figures.llm_api_key.get_secret_value(),
    }
    return read_model_settings(variables, tuple(figures.llm_endpoints))


def planner_of(asking: Asking | None, refusal: str) -> Planner:
    """Return the planner: the model's where it may be asked, else the rules with the reason."""
    return RulePlanner(f"planner_{refusal}") if asking is None else ModelPlanner(asking("plan"))


def reranker_of(asking: Asking | None, figures: Research) -> Reranker | None:
    """Return who orders last, None when nobody does; without a model the rules stand in."""
    if asking is not None and figures.rerank in {"llm", "hybrid"}:
        mode: Literal["llm", "hybrid"] = "llm" if figures.rerank == "llm" else "hybrid"
        return ModelReranker(asking("rerank"), mode, split=terms)
    return None if figures.rerank == "off" else FusedOnly(RuleReranker(split=terms))


def _prompt(model: ModelSettings, system: str, user: str) -> Prompt:
    return Prompt(
        messages=(Message(role="system", content=system), Message(role="user", content=user)),
        max_tokens=_MOST_TOKENS,
        timeout_s=model.timeout_s,
        max_body_bytes=_MOST_BODY_BYTES,
    )
