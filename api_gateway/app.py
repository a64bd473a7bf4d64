"""The ASGI application: admission before everything, routes behind it, one error shape for all."""

from pathlib import Path
from typing import cast

from litestar import Litestar
from litestar.datastructures import State
from signal_search.errors import Invalid

from api_gateway.admission import Admission, Limits
from api_gateway.asgi import App
from api_gateway.auth import Gate
from api_gateway.counting import Counting
from api_gateway.door import open_door
from api_gateway.faces import Faces
from api_gateway.hot_path import HotPath
from api_gateway.problems import on_error
from api_gateway.routes import (
    adaptive,
    admin,
    approvals,
    compat,
    delegations,
    jobs,
    memories,
    research,
    retrieve,
    scoring,
    search,
    sources,
    system,
)
from infra.clock import SystemClock
from infra.logging import configure, name_process
from infra.settings import Settings, current

ROUTES = [
    retrieve.retrieve,
    search.search,
    search.survey,
    adaptive.adaptive,
    research.query,
    memories.memories_options,
    memories.keep_memory,
    memories.list_memories,
    memories.show_memory,
    memories.show_audit,
    memories.move_memory,
    memories.index_folder,
    approvals.approvals_options,
    approvals.ask_approval,
    approvals.list_approvals,
    approvals.show_approval,
    approvals.decide_approval,
    approvals.take_receipt,
    approvals.list_verifications,
    approvals.show_verification,
    jobs.list_jobs,
    jobs.job_options,
    jobs.show_job,
    jobs.cancel_job,
    jobs.show_result,
    jobs.export_job,
    jobs.bundle_job,
    jobs.follow_job,
    delegations.list_delegations,
    delegations.answer_delegation,
    sources.list_sources,
    scoring.show_capabilities,
    scoring.generate_scorer,
    compat.tavily_search,
    compat.searxng_search,
    compat.firecrawl_web,
    compat.begin_crawl,
    compat.crawl_options,
    compat.show_crawl,
    compat.show_crawl_errors,
    compat.cancel_crawl,
    admin.show_manifest,
    admin.show_config,
    admin.change_config,
    system.front,
    system.healthz,
    system.readyz,
    system.metrics,
    system.openapi,
    system.docs,
]


_HOT = {
    retrieve.PATH: retrieve.submit,
    search.SEARCH: search.answer_search,
    search.SURVEY: search.answer_survey,
    adaptive.PATH: adaptive.answer_adaptive,
}


def create_app(settings: Settings | None = None) -> App:
    """Return the application for these settings, else for this process's own.

    Raises:
        Invalid: no store is named, or the tokens file is not valid.
    """
    chosen = settings or _own_settings()
    if not chosen.redis_url:
        raise Invalid("The gateway needs the address of a store.", field="redis_url")
    gate = Gate(tokens_path(chosen))
    limits = Limits(
        body_bytes=chosen.gateway.max_body_bytes,
        nesting=chosen.gateway.max_nesting,
        admin_text=chosen.gateway.admin_detail == "string",
    )
    routes = _routes(chosen)
    hot = HotPath(cast("App", routes), lambda: routes.state["door"], _HOT)
    admission = Admission(hot, gate, limits, lambda: routes.state["door"].request_slots)
    faces = Faces(admission, body_bytes=limits.body_bytes, body_s=limits.body_s)
    return Counting(faces, SystemClock())


def _own_settings() -> Settings:
    settings = current()
    name_process(process="gateway")
    configure(settings.log)
    return settings


def tokens_path(settings: Settings) -> Path:
    """Return where the tokens are."""
    named = settings.gateway.tokens_file
    return Path(named) if named else settings.data_path / "tokens.json"


def _routes(settings: Settings) -> Litestar:
    return Litestar(
        ROUTES,
        lifespan=[open_door],
        state=State({"settings": settings}),
        exception_handlers={Exception: on_error},
        openapi_config=None,  # written from the contracts: api_gateway/openapi.py
        logging_config=None,
        request_max_body_size=settings.gateway.max_body_bytes,
        debug=False,  # never by an environment variable
        pdb_on_exception=False,
    )
