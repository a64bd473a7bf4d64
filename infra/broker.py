"""The broker as the message library wants it: the address in its spelling, and the options of its transport.

Gateway and workers take both from here: a message must arrive where they listen.
"""

from urllib.parse import parse_qs, quote, urlsplit

from infra.roles import BROKER_PREFIX
from infra.store_address import StoreAddress, check_broker_address, parse


def broker_url(url: str) -> str:
    """Return `url` as the message library spells it: Unix sockets and Sentinels have schemes of their own there.

    Raises:
        ValueError: messages cannot go there (a cluster), and why.
    """
    if not url:
        return url
    check_broker_address(url)
    parts = urlsplit(url)
    if parts.scheme == "unix":
        database = parse_qs(parts.query).get("db", ["0"])[0]
        return f"redis+socket://{parts.path}?virtual_host={database}"  # the path is quoted already
    return _sentinels(parse(url)) if parts.scheme.endswith("+sentinel") else url


def _sentinels(address: StoreAddress) -> str:
    who = f":{quote(address.password, safe='')}@" if address.password else ""
    if address.username:
        who = quote(address.username, safe="") + (who or "@")
    return ";".join(
        f"sentinel://{who}{host}:{port}/{address.database}" for host, port in address.hosts
    )


def is_redis(url: str) -> bool:
    """Return whether messages go through Redis, alone or behind Sentinel, and not through RabbitMQ."""
    return not url.startswith(("amqp://", "amqps://"))


def transport_options(url: str) -> dict[str, object]:
    """Return the options of the transport to `url`, spelled as in the settings.

    With Redis: no emulated acknowledgement (it loses and repeats messages, costs half the throughput, and its
    bookkeeping kills workers when Redis restarts), keys of its own, and a half-open connection is noticed. RabbitMQ
    acknowledges by itself and has none of these options; there a sent message is confirmed.
    """
    if not is_redis(url):
        return {"confirm_publish": True}
    options: dict[str, object] = {
        "ack_emulation": False,
        "global_keyprefix": BROKER_PREFIX,
        "socket_timeout": 30,
        "socket_connect_timeout": 5,
        "socket_keepalive": True,
        "health_check_interval": 25,
    }
    if "+sentinel:" not in url:
        return options
    address = parse(url)
    asked: dict[str, object] = {"socket_timeout": 5, "socket_connect_timeout": 5}
    if address.sentinel_password:
        asked["password"] = address.sentinel_password
    return {**options, "master_name": address.service, "sentinel_kwargs": asked}
