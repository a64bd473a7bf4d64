"""Asks the virtual hosts of a loopback web, by their names or by those of the sources behind them."""

from collections.abc import Mapping
from typing import Any, Final

import httpx

AGENT: Final = "SignalSearchBot/0.1 (+https://github.com/signal-search/signal-search)"


def agent() -> httpx.Client:
    """Return a client that says who we are, as the product does."""
    return httpx.Client(trust_env=False, headers={"user-agent": AGENT})


class Caller:
    """One web. `hosts` has the hosts of names that are none."""

    def __init__(
        self, client: httpx.Client, port: int, hosts: Mapping[str, str] | None = None
    ) -> None:
        self.client, self.port = client, port
        self.hosts = hosts or {}

    def __call__(self, name: str, path: str, method: str = "GET", **more: Any) -> httpx.Response:
        headers = {"host": self.hosts.get(name, name), **more.pop("headers", {})}
        url = f"http://127.0.0.1:{self.port}{path}"
        return self.client.request(method, url, headers=headers, **more)
