"""A guard for clients of one configured endpoint: connections go there, or where the loopback table says it stands.

The endpoint is configuration and therefore trusted: it may stand on this machine or in a private network.
"""

from urllib.parse import urlsplit

from signal_search.errors import AddressRefused

from infra.http import Endpoint, Guard
from infra.settings import Loopback

_PORTS = {"http": 80, "https": 443}


def below(base_url: str, path: str) -> str:
    """Return the address of `path` below a base address, its host in lower case without a last dot."""
    parts = urlsplit(base_url)
    name = (parts.hostname or "").rstrip(".")
    host = f"[{name}]" if ":" in name else name
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme.lower()}://{host}{port}{parts.path.rstrip('/')}{path}"


def only_host_of(url: str, loopback: Loopback) -> Guard:
    """Return a guard that lets connections go to the host and port of `url` alone.

    It raises AddressRefused for any other, and for one that the loopback table does not list where only that counts.
    """
    parts = urlsplit(url)
    own = (parts.hostname, parts.port or _PORTS[parts.scheme])
    mapped = {name.lower(): urlsplit(f"//{to}") for name, to in loopback.hosts.items()}

    async def endpoints(host: str, port: int) -> tuple[Endpoint, ...]:
        target = mapped.get(host)
        if target is not None and host == own[0]:
            return (Endpoint(target.hostname or "", target.port or 0),)
        is_listed = not loopback.only or f"{host}:{port}" in loopback.allow
        if (host, port) != own or not is_listed:
            raise AddressRefused
        return (Endpoint(host, port),)

    return endpoints
