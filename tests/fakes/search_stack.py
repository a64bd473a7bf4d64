"""A real gateway and real workers in this process, over the loopback web: what answers a search from end to end."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
import structlog

from infra.loopback_web.server import LoopbackWeb, hosts
from infra.settings import Settings, load
from tests.fakes.gateway import running
from workers.direct import DirectWalk
from workers.pipeline.parse import _registry

KEYS = {
    "BRAVE_API_KEY": "BSAloopback0001",
    "EXA_API_KEY": "01234567-89ab-cdef-0123-456789abcdef",
    "TAVILY_API_KEY": "tvly-loopback0001",
    "GROK_API_KEY": "xai-loopback0001",
}
HOSTS = {
    "brave": "api.search.brave.com",
    "exa": "api.exa.ai",
    "tavily": "api.tavily.com",
    "grok": "api.x.ai",
}


class Served(NamedTuple):
    """A gateway with workers behind it, and the web that they search."""

    http: httpx.Client
    web: LoopbackWeb
    settings: Settings


@contextmanager
def keys_set(missing: tuple[str, ...] = ()) -> Iterator[pytest.MonkeyPatch]:
    """Give every web source its key, but for the variables named."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in KEYS.items():
            if name in missing:
                patch.delenv(name, raising=False)
            else:
                patch.setenv(name, value)
        _registry.cache_clear()
        yield patch
    _registry.cache_clear()


@contextmanager
def serving(redis_url: str, folder: Path, **changes: Any) -> Iterator[Served]:
    """Serve until the block ends; `changes` are of the settings."""
    with LoopbackWeb() as web:
        settings = load(
            redis_url=redis_url,
            data_dir=str(folder),
            loopback={"only": True, "hosts": hosts(web.port)},
            politeness={"loopback_interval_s": 0.02},
            fetch={"clients": 2, "concurrency": 8},
            search={
                "deadline_s": 50.0
            },  # parsers start once, which a busy machine takes seconds for
            **changes,
        )
        # What a command prints is compared; workers in one process with it log to stdout unless told otherwise.
        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
        walk = DirectWalk(settings)
        walk.start()
        try:
            with running(settings) as http:
                yield Served(http, web, settings)
        finally:
            walk.stop()
            structlog.reset_defaults()
