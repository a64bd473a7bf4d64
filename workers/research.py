"""The composition root of research memory: settings become stores, indexes and a router over them.

The model is the only thing here that knows the network, and only when it is switched on and its endpoint is allowed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from signal_search.contracts.generation import Message
from signal_search.contracts.research import ResearchQuery, RouterResult, ScopeKey

from infra.clock import Clock
from infra.llm import Prompt, ask
from infra.settings import Research, Settings
from workers.memory.admission import Admission
from workers.memory.grep import Grep, GrepLimits, GrepTool
from workers.memory.index_file import IndexFile
from workers.memory.indexing import IndexLimits, Synced, sync
from workers.memory.minilm import installed
from workers.memory.model_planner import Ask, ModelPlanner
from workers.memory.model_settings import ModelSettings, read_model_settings
from workers.memory.plan import Planner, RulePlanner
from workers.memory.recall import Bm25Tool, MemoryTool, VectorTool
from workers.memory.reranking import FusedOnly, ModelReranker, Reranker, RuleReranker
from workers.memory.router import Router, RouterRules
from workers.memory.scope import make_scope
from workers.memory.store import MemoryStore
from workers.memory.store_file import StoreFile
from workers.memory.tool import Tool
from workers.memory.vector import Embedder
from workers.memory.words import terms

_MOST_TOKENS = 2048
_MOST_BODY_BYTES = 262_144
_OFF = read_model_settings({})


@dataclass
class Desk:
    """Research memory of this deployment; opens files as they are needed."""

    settings: Settings
    clock: Clock

    @property
    def folder(self) -> Path:
        """Return where the files of all scopes are."""
        named = self.settings.research.folder
        return Path(named) if named else self.settings.data_path / "research"

    @property
    def embedder(self) -> Embedder | None:
        """Return the model of the vector channel, None where it is off or not installed."""
        return None if self.settings.research.vectors == "off" else installed()

    def store(self, scope: ScopeKey) -> MemoryStore:
        """Return the memories of a scope."""
        return MemoryStore(StoreFile(self.folder, scope), self.clock)

    def index(self, scope: ScopeKey, root: Path) -> Synced:
        """Make the index of a scope the state of a folder; raises as `sync`."""
        figures = self.settings.research
        limits = IndexLimits(
            max_files=figures.index_files,
            max_file_bytes=figures.index_file_bytes,
            profile=figures.index_profile,
        )
        file = IndexFile(self.folder, scope)
        return sync(root, file, self.clock, embedder=self.embedder, limits=limits)

    def answer(
        self, query: ResearchQuery, root: Path | None = None, *, offline: bool = False
    ) -> RouterResult:
        """Answer a question; `root` is a folder that grep reads besides those of the settings.

        offline: no model is asked, whatever the settings say.
        """
        router = self.router(query.scope, root, offline=offline)
        return router.retrieve(
            query.query, query.scope, tool_rounds=query.tool_rounds, limit=query.limit
        )

    def router(self, scope: ScopeKey, root: Path | None = None, *, offline: bool = False) -> Router:
        """Return a router over every channel that this scope can have; offline: without a model."""
        figures = self.settings.research
        model = _OFF if offline else _model(figures)
        asking = None if model.refusal else _asking(self.settings, model, self.clock)
        rules = RouterRules(
            admission=Admission(max_age_s=figures.max_index_age_s),
            max_calls=figures.max_calls,
            depth=figures.channel_depth,
        )
        return Router(
            self._tools(scope, root),
            self.clock,
            planner=_planner(asking, model.refusal),
            reranker=_reranker(asking, figures),
            rules=rules,
        )

    def _tools(self, scope: ScopeKey, root: Path | None) -> list[Tool]:
        depth = self.settings.research.channel_depth
        tools: list[Tool] = [
            MemoryTool(self.folder, self.clock),
            Bm25Tool(self.folder, limit=depth),
        ]
        if self.embedder is not None:
            tools.append(VectorTool(self.folder, self.embedder, limit=depth))
        folder = root or self._root(scope)
        if folder is not None:
            tools.append(
                GrepTool(Grep(folder, scope, _grep_limits(self.settings.research)), self.clock)
            )
        return tools

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


def _planner(asking: Ask | None, refusal: str) -> Planner:
    return RulePlanner(f"planner_{refusal}") if asking is None else ModelPlanner(asking)


def _reranker(asking: Ask | None, figures: Research) -> Reranker | None:
    if asking is not None and figures.rerank in {"llm", "hybrid"}:
        return ModelReranker(asking, "llm" if figures.rerank == "llm" else "hybrid")
    return None if figures.rerank == "off" else FusedOnly(RuleReranker(split=terms))


def _asking(settings: Settings, model: ModelSettings, clock: Clock) -> Ask:
    """Return a way to ask the model: one connection, no redirects, nothing repeated, everything bounded."""
    search = settings.search.model_copy(
        update={
            "agent_base_url": model.base_url,
            "agent_model": model.model,
            "agent_api_key": settings.research.llm_api_key,
        }
    )
    chosen = settings.model_copy(update={"search": search})

    def put(system: str, user: str) -> str:
        prompt = Prompt(
            messages=(Message(role="system", content=system), Message(role="user", content=user)),
            max_tokens=_MOST_TOKENS,
            timeout_s=model.timeout_s,
            max_body_bytes=_MOST_BODY_BYTES,
        )
        return ask(chosen, clock, prompt).text

    return put
