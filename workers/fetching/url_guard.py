"""Which addresses may be asked at all: a pure policy for URLs, and a check of every address a name resolves to.

The table of special addresses is written out (IANA special-purpose registries, 2025-10) because the standard
library's `is_global` differs between Python versions and calls several of these ranges global. IPv6 is allowed only
in 2000::/3 without its special blocks and without any form that embeds an IPv4 address. Fails closed: a name with one
bad answer among good ones is refused, and so is whatever cannot be parsed the same way by everyone.
"""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import ada_url
from msgspec import Struct
from signal_search.errors import AddressRefused, Unreachable

from infra.http import Endpoint
from infra.settings import Loopback

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]

MAX_URL_LENGTH = 8192

_DEFAULT_PORTS = {"http": 80, "https": 443}
_SHAPE = re.compile(r"(https?)://([^/?#@\\]+)(?:[/?]|#[^@]*$|$)", re.IGNORECASE)
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f-\x9f\\\u2028\u2029]")
_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_]([a-z0-9_-]{0,62}))+\Z")
_PORT = re.compile(r"(?:\]|[^:\]]):(\d{1,5})\Z|\A\[[^\]]*\]\Z|\A[^:]*\Z")

_SPECIAL_V4 = tuple(
    ip_network(block)
    for block in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private use
        "100.64.0.0/10",  # shared address space; 100.100.100.200 is a cloud's metadata service
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # a cloud's host service; not in the registry
        "169.254.0.0/16",  # link local, metadata services
        "172.16.0.0/12",  # private use
        "192.0.0.0/24",  # protocol assignments; 192.0.0.192 is a cloud's metadata service
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # 6to4 relays, deprecated
        "192.168.0.0/16",  # private use
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarking
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, limited broadcast
    )
)
_GLOBAL_V6 = ip_network("2000::/3")
_SPECIAL_V6 = tuple(
    ip_network(block)
    for block in (
        "2001::/23",  # protocol assignments: Teredo, benchmarking, ORCHID and others
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "2620:4f:8000::/48",  # AS112
        "3ffe::/16",  # the former 6bone
        "3fff::/20",  # documentation
    )
)
_ISATAP_MARKS = (b"\x00\x00\x5e\xfe", b"\x02\x00\x5e\xfe")  # RFC 5214, 6.1


class Target(Struct, frozen=True, kw_only=True):
    """A URL that passed the policy: `url` in WHATWG form without fragment, host in lower case, port spelled out."""

    url: str
    scheme: str
    host: str
    port: int


def canonical(url: str) -> str:
    """Return the WHATWG serialisation without fragment: what is fetched and what names a cached reply.

    Raises:
        AddressRefused: it cannot be parsed.
    """
    try:
        return str(ada_url.normalize_url(url)).split("#", 1)[0]
    except ValueError:
        raise AddressRefused("The address cannot be parsed.") from None


def is_public(address: str) -> bool:
    """Say whether an IP address in canonical text form is one of the open Internet."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    return _is_public_v4(parsed) if isinstance(parsed, IPv4Address) else _is_public_v6(parsed)


def _is_public_v4(address: IPv4Address) -> bool:
    return not any(address in block for block in _SPECIAL_V4)


def _is_public_v6(address: IPv6Address) -> bool:
    if address.scope_id is not None or address not in _GLOBAL_V6:
        return False
    if address.packed[8:12] in _ISATAP_MARKS:
        return False
    return not any(address in block for block in _SPECIAL_V6)


async def resolve_by_system(host: str, port: int) -> Sequence[str]:
    """Return every address the system's resolver knows for a host.

    Raises:
        Unreachable: the name does not resolve.
    """
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise Unreachable from error
    return list(dict.fromkeys(str(each[4][0]) for each in found))


class UrlGuard:
    """The policy with its settings. Idempotent; safe to share between tasks."""

    def __init__(
        self, ports: Sequence[int], loopback: Loopback, resolve: Resolver = resolve_by_system
    ) -> None:
        """Allow `ports` of public hosts, and of this machine only what `loopback` lists."""
        self._ports = frozenset(ports)
        self._allowed = dict(_listed(each) for each in loopback.allow)
        self._mapped = {host.lower(): _listed(to)[1] for host, to in loopback.hosts.items()}
        self._only = loopback.only
        self._resolve = resolve

    def target(self, url: str) -> Target:
        """Return the parsed URL if its form, port and literal address are allowed; nothing is looked up.

        Raises:
            AddressRefused: it is not.
        """
        _check_form(url)
        parsed = ada_url.URL(canonical(url))
        scheme = parsed.protocol.rstrip(":")
        port = int(parsed.port) if parsed.port else _DEFAULT_PORTS[scheme]
        target = Target(
            url=canonical(url), scheme=scheme, host=parsed.hostname.strip("[]"), port=port
        )
        self._check_host(target.host, port)
        return target

    def is_loopback(self, url: str) -> bool:
        """Say whether an allowed URL is served by this machine."""
        target = self.target(url)
        return self._local(target.host, target.port) is not None

    async def check(self, url: str) -> tuple[Endpoint, ...]:
        """Return the endpoints a URL's connection may go to.

        Raises:
            AddressRefused: the URL or one of its addresses is not allowed.
            Unreachable: the name does not resolve.
        """
        target = self.target(url)
        return await self.endpoints(target.host, target.port)

    async def endpoints(self, host: str, port: int) -> tuple[Endpoint, ...]:
        """Return where a connection to host and port may go: the guard of the HTTP client.

        Raises:
            AddressRefused: host, port or one of the addresses is not allowed.
            Unreachable: the name does not resolve.
        """
        local = self._local(host, port)
        if local is not None:
            return (local,)
        self._check_host(host, port)
        literal = _literal(host)
        found = [str(literal)] if literal else await self._resolve(host, port)
        if not found:
            raise Unreachable
        if not all(is_public(each) for each in found):
            raise AddressRefused("The host's name leads to an address that is not public.")
        return tuple(Endpoint(each, port) for each in found)

    def _local(self, host: str, port: int) -> Endpoint | None:
        return self._mapped.get(host) or self._allowed.get((host, port))

    def _check_host(self, host: str, port: int) -> None:
        if self._local(host, port) is not None:
            return
        if self._only:
            raise AddressRefused("Only listed loopback hosts may be asked.")
        if port not in self._ports:
            raise AddressRefused("The port is not one of those allowed.")
        literal = _literal(host)
        if literal is None and not _NAME.match(host.removesuffix(".")):
            raise AddressRefused("The host is not a full domain name.")
        if literal is not None and not is_public(str(literal)):
            raise AddressRefused("The address is not public.")


def _check_form(url: str) -> None:
    """Refuse what two parsers could read differently: before parsing, on the text as it came."""
    if len(url) > MAX_URL_LENGTH or _UNPRINTABLE.search(url):
        raise AddressRefused("The address has characters or a length that are not allowed.")
    shape = _SHAPE.match(url)
    if shape is None:
        raise AddressRefused("Only http and https addresses without user information are fetched.")
    authority = shape[2]
    if "%" in authority or not _PORT.search(authority):
        raise AddressRefused("The host or port is not in plain form.")


def _literal(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _listed(address: str) -> tuple[tuple[str, int], Endpoint]:
    """Return a listed HOST:PORT as a URL spells it, and where it is."""
    host, _, port = address.rpartition(":")
    name = host.strip("[]").lower()
    return (name, int(port)), Endpoint("127.0.0.1" if name == "localhost" else name, int(port))
