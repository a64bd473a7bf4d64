"""The one door to the network: one exchange with one address, within limits of time, size and headers.

Bodies are read raw and decoded here, because a client's own decoder hands out a 67 MB chunk of a 200 KB bomb before
any cap can act. A guard names the endpoints a connection may go to, at the moment it is opened, so that no second
look-up can answer differently; TLS name and Host header stay the host's. Redirects are never followed, cookies never
kept, proxies of the environment never used. One exchange is one connection attempt: nothing is retried here.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import NamedTuple, Self
from zlib import crc32

import httpcore
import httpx
from msgspec import Struct
from signal_search.errors import BadReply, BodyTooLarge, Dropped, TimedOut, Unreachable
from typing_extensions import override

from infra.attempt import Attempt
from infra.bounded_body import BoundedBody
from infra.clock import Clock
from infra.metrics import FETCH_SECONDS
from infra.outgoing import Outgoing
from infra.settings import Fetch, Loopback

ACCEPT_ENCODING = "gzip, deflate"
_KEEPALIVE_S = 30.0
_MAX_TRIES = 3  # addresses of one host that are tried in turn


class Endpoint(NamedTuple):
    """Where a connection really goes: an IP address and a port."""

    address: str
    port: int


Guard = Callable[[str, int], Awaitable[tuple[Endpoint, ...]]]


class RawReply(Struct, frozen=True, kw_only=True):
    """One reply as it came, body decoded from its content encoding but not from its charset.

    headers: names in lower case, repeated ones joined by ", "; cut: the body was longer than asked for and ends early;
    wire_bytes: body bytes received, before decoding.
    """

    url: str
    status: int
    headers: dict[str, str]
    body: bytes
    fetched_at_ms: int
    wire_bytes: int = 0
    cut: bool = False


class HttpClient:
    """A few connection pools sharded by host: few connections each are cheaper than many in one.

    httpx's own client is left out: it parses redirects and keeps cookies, a transport does neither.

    Belongs to one event loop; close it with `aclose` or use it as a context manager. Fails closed: what the guard
    refuses is not connected to, and the guard's error reaches the caller as it is.
    """

    def __init__(self, fetch: Fetch, loopback: Loopback, guard: Guard, clock: Clock) -> None:
        """Open nothing yet; connections are made by the first request."""
        self._fetch = fetch
        self._mapped = frozenset(host.lower() for host in loopback.hosts)
        self._clock = clock
        context = httpx.create_ssl_context(trust_env=False)
        self._transports = tuple(
            _GuardedTransport(guard, context, fetch) for _ in range(fetch.clients)
        )

    async def get(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        total_timeout_s: float | None = None,
        max_body_bytes: int | None = None,
        cut: bool = False,
    ) -> RawReply:
        """Make one exchange with GET; see `send`."""
        outgoing = Outgoing(url=url, headers=headers)
        return await self.send(
            outgoing, total_timeout_s=total_timeout_s, max_body_bytes=max_body_bytes, cut=cut
        )

    async def send(
        self,
        outgoing: Outgoing,
        *,
        total_timeout_s: float | None = None,
        max_body_bytes: int | None = None,
        cut: bool = False,
    ) -> RawReply:
        """Make one exchange. `cut` keeps the first `max_body_bytes` of a longer body instead of refusing it.

        Raises:
            TimedOut: the whole exchange took longer than `total_timeout_s`, or connecting took too long.
            Unreachable: no connection, or it broke; `Dropped` where it was an idle one and nothing had come back.
            BodyTooLarge: more than `max_body_bytes` after decoding.
            BadReply: not HTTP, an unknown content encoding, a broken or truncated body, too many header bytes.
        """
        limit = self._fetch.max_body_bytes if max_body_bytes is None else max_body_bytes
        deadline_s = self._fetch.total_timeout_s if total_timeout_s is None else total_timeout_s
        request = self._request(outgoing)
        transport = self._transports[crc32(request.url.raw_host) % len(self._transports)]
        attempt = Attempt(outgoing.method)
        request.extensions["trace"] = attempt.note
        with self._timed(), _our_errors(attempt):
            async with asyncio.timeout(deadline_s):
                response = await transport.handle_async_request(request)
                try:
                    return await self._read(outgoing, response, limit, cut=cut)
                finally:
                    await response.aclose()

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """Observe how long it took, however it ended."""
        started = self._clock.monotonic()
        try:
            yield
        finally:
            FETCH_SECONDS.observe(self._clock.monotonic() - started)

    def _request(self, outgoing: Outgoing) -> httpx.Request:
        try:
            parsed = httpx.URL(outgoing.url)
        except (httpx.InvalidURL, ValueError):
            raise Unreachable("The address cannot be parsed.") from None
        # Not `parsed.host`, here or for a Host header: it decodes Punycode, and refuses names the web has (emoji).
        if parsed.raw_host.decode("ascii") in self._mapped:
            parsed = parsed.copy_with(scheme="http")
        encoding = "identity" if outgoing.plain else ACCEPT_ENCODING
        named = {"host": parsed.netloc.decode("ascii"), "accept-encoding": encoding}
        sent = {**outgoing.headers, **named}
        limits = {"timeout": self._timeouts(), "target": outgoing.target}
        body = outgoing.body or None
        return httpx.Request(outgoing.method, parsed, headers=sent, content=body, extensions=limits)

    def _timeouts(self) -> dict[str, float]:
        total = self._fetch.total_timeout_s
        connect = self._fetch.connect_timeout_s
        return {"connect": connect, "read": total, "write": total, "pool": total}

    async def _read(
        self, outgoing: Outgoing, response: httpx.Response, limit: int, *, cut: bool
    ) -> RawReply:
        _check_headers(response, self._fetch.max_header_bytes)
        encoding = response.headers.get("content-encoding", "")
        body = BoundedBody(encoding, limit, plain=outgoing.plain)
        async for chunk in response.aiter_raw():
            body.feed(chunk)
            if body.full and not cut:
                raise BodyTooLarge
            if body.full:
                break
        return RawReply(
            url=outgoing.url,
            status=response.status_code,
            headers=_joined(response.headers),
            body=body.finish(),
            fetched_at_ms=self._clock.now_ms(),
            wire_bytes=body.wire_bytes,
            cut=body.full,
        )

    async def aclose(self) -> None:
        """Close every connection."""
        for transport in self._transports:
            await transport.aclose()

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close every connection."""
        await self.aclose()


def _check_headers(response: httpx.Response, limit: int) -> None:
    size = sum(len(name) + len(value) + 4 for name, value in response.headers.raw)
    if size > limit:
        raise BadReply("The reply's headers are larger than the limit.")


def _joined(headers: httpx.Headers) -> dict[str, str]:
    return {name.lower(): headers[name] for name in headers}


@contextmanager
def _our_errors(attempt: Attempt) -> Iterator[None]:
    """Turn the libraries' errors into ours, without their text (which may hold an address)."""
    try:
        yield
    except (TimeoutError, httpcore.TimeoutException) as error:
        raise TimedOut from error
    except (httpcore.ProtocolError, httpx.DecodingError) as error:
        if isinstance(error, httpcore.RemoteProtocolError) and attempt.was_dropped:
            raise Dropped from error
        raise BadReply from error
    except (httpcore.NetworkError, httpcore.UnsupportedProtocol, httpx.HTTPError, OSError) as error:
        if isinstance(error, httpcore.NetworkError) and attempt.was_dropped:
            raise Dropped from error
        raise Unreachable from error


class _GuardedBackend(httpcore.AsyncNetworkBackend):
    """Opens connections only to endpoints the guard names, in their order."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._network = httpcore.AnyIOBackend()

    @override
    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        failure: httpcore.ConnectError | httpcore.ConnectTimeout | None = None
        for address, real_port in (await self._guard(host, port))[:_MAX_TRIES]:
            try:
                return await self._network.connect_tcp(
                    address, real_port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure or Unreachable

    @override
    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)


class _Stream(httpx.AsyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._response.aiter_stream():
            yield piece

    @override
    async def aclose(self) -> None:
        await self._response.aclose()


class _GuardedTransport(httpx.AsyncBaseTransport):
    """httpx over an httpcore pool with our own network back end; httpx itself offers no way to pass one."""

    def __init__(self, guard: Guard, context: ssl.SSLContext, fetch: Fetch) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=context,
            max_connections=max(4, fetch.concurrency // fetch.clients),
            max_keepalive_connections=4,
            keepalive_expiry=_KEEPALIVE_S,
            network_backend=_GuardedBackend(guard),
        )

    @override
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.extensions["target"],
        )
        response = await self._pool.handle_async_request(
            httpcore.Request(
                request.method,
                url,
                headers=request.headers.raw,
                content=request.content,
                extensions={name: request.extensions[name] for name in ("timeout", "trace")},
            )
        )
        return httpx.Response(response.status, headers=response.headers, stream=_Stream(response))

    @override
    async def aclose(self) -> None:
        await self._pool.aclose()
