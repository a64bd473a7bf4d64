"""Settings whose model is the one of the loopback web, and what it was asked."""

from typing import Any

from infra.loopback_web import LoopbackWeb, hosts
from infra.settings import Settings, load

KEY = "sk-loopback-0123456789"


def model_settings(web: LoopbackWeb, *, host: str = "model.test", **more: Any) -> Settings:
    """Return settings that ask the model of `web` and nobody else; `search` in `more` is added to."""
    search = {
        "scorer_generation_enabled": True,
        "agent_enabled": True,
        "agent_base_url": f"http://{host}/v1",
        "agent_model": "loopback-1",
        "agent_api_key": KEY,
        **more.pop("search", {}),
    }
    loopback = {"only": True, "hosts": hosts(web.port)}
    return load(search=search, loopback=loopback, **more)


def model_calls(web: LoopbackWeb, host: str = "model.test") -> int:
    """Return how many requests the model got."""
    return len(web.log.entries(host))
