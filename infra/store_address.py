"""Addresses of the store and of the broker: one server, servers behind Sentinel, a cluster; and what each may be.

| kind | address |
|---|---|
| one server | redis://[USER:PASSWORD@]HOST:PORT/DB, rediss:// with TLS, unix:///PATH |
| Sentinel | redis+sentinel://[USER:PASSWORD@]HOST:PORT[,HOST:PORT]/SERVICE[?db=N&sentinel_password=P] |
| cluster | redis+cluster://[USER:PASSWORD@]HOST:PORT[,HOST:PORT] |

The hosts are Sentinels (port 26379 by default) or nodes to begin with (6379). With rediss+ they are
spoken to over TLS.
"""

from typing import Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from msgspec import Struct

Kind = Literal["single", "sentinel", "cluster"]

_SINGLE = frozenset({"redis", "rediss", "unix"})
_MANY: dict[str, tuple[Kind, int]] = {
    "sentinel": ("sentinel", 26_379),
    "cluster": ("cluster", 6379),
}
_MESSAGES = frozenset({"redis", "rediss", "unix", "redis+socket", "amqp", "amqps"})
CLUSTER_REFUSED = (
    "a Redis Cluster may hold our keys, but not the messages: the broker's library reads several queues in one "
    "command; name one Redis, Sentinel or RabbitMQ in broker_url"
)


class StoreAddress(Struct, frozen=True, kw_only=True):
    """The parts of an address. `hosts` and what follows are empty for one server, whose `url` says everything."""

    kind: Kind
    url: str
    hosts: tuple[tuple[str, int], ...] = ()
    username: str | None = None
    password: str | None = None
    tls: bool = False
    service: str = ""
    database: int = 0
    sentinel_password: str | None = None


def parse(url: str) -> StoreAddress:
    """Return the parts of a store's address.

    Raises:
        ValueError: no address of a store; the message says what is wrong and repeats nothing of it.
    """
    scheme = url.partition("://")[0].lower()
    if scheme in _SINGLE:
        return StoreAddress(kind="single", url=url)
    base, _, how = scheme.partition("+")
    if base not in {"redis", "rediss"} or how not in _MANY:
        raise ValueError("begins with none of redis, rediss, unix, redis+sentinel, redis+cluster")
    kind, port = _MANY[how]
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    user, _, hosts = parts.netloc.rpartition("@")
    name, _, password = user.partition(":")
    found = StoreAddress(
        kind=kind,
        url=url,
        hosts=tuple(_host(each, port) for each in hosts.split(",")),
        username=unquote(name) or None,
        password=unquote(password) or None,
        tls=base == "rediss",
        service=unquote(parts.path.strip("/")) if kind == "sentinel" else "",
        database=_number(query.pop("db", "0")),
        sentinel_password=query.pop("sentinel_password", None),
    )
    _check(found, query)
    return found


def _check(found: StoreAddress, unknown: dict[str, str]) -> None:
    if unknown:
        raise ValueError("has a parameter that is not known here")
    if found.kind == "sentinel" and not found.service:
        raise ValueError("names no service: redis+sentinel://HOST:PORT/SERVICE")
    if found.kind == "cluster" and found.database:
        raise ValueError("names a database: a cluster has one")


def _host(text: str, port: int) -> tuple[str, int]:
    parts = urlsplit(f"//{text}")  # its port is checked when it is read
    if not parts.hostname:
        raise ValueError("names no host")
    return parts.hostname, parts.port or port


def _number(text: str) -> int:
    if not text.isdecimal():
        raise ValueError("names a database that is no number")
    return int(text)


def check_broker_address(url: str) -> None:
    """Return when messages can go through `url`.

    Raises:
        ValueError: they cannot, and why; the message repeats nothing of the address.
    """
    scheme = url.partition("://")[0].lower()
    if "cluster" in scheme:
        raise ValueError(CLUSTER_REFUSED)
    if scheme == "rediss+sentinel":
        raise ValueError("asks for TLS, which the broker's library does not speak to Sentinel here")
    if scheme == "redis+sentinel":
        parse(url)
    elif scheme == "sentinel":
        raise ValueError("names no service: write redis+sentinel://HOST:PORT/SERVICE")
    elif scheme not in _MESSAGES:
        raise ValueError("begins with none of redis, rediss, unix, redis+sentinel, amqp, amqps")


def masked(url: str) -> str:
    """Return an address without its user, password and parameters."""
    parts = urlsplit(url)
    if parts.scheme in {"unix", "redis+socket"}:
        return f"{parts.scheme}://{parts.path}"
    service = parts.path if parts.scheme.endswith("+sentinel") else ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{service}"
