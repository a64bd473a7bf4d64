"""HTTP to a gateway: the only place of the desk where bytes leave the process.

Two thin classes, one blocking and one for asyncio; what is sent and how replies are read stands in `operations`,
`replies` and `sse`, once.
"""

import ipaddress
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from typing import TypeVar

import httpx

from signal_search.client import memory_operations, operations
from signal_search.client.memory_calls import MemoryCommand
from signal_search.client.operations import Operation
from signal_search.client.replies import TIMED_OUT, UNREACHABLE, error_of
from signal_search.client.sse import EventStream
from signal_search.contracts.delegation import DelegationReply, DelegationState
from signal_search.contracts.job import AnySearch, Job, JobState
from signal_search.contracts.outcome import AnyResult
from signal_search.contracts.query import RetrieveRequest
from signal_search.contracts.source import SourceView
from signal_search.contracts.trace import LogEntry
from signal_search.errors import Failed, Invalid, SignalSearchError

T = TypeVar("T")

_READ_S = 65.0  # above the minute that the gateway may make us wait
_EVENT_STREAM = "text/event-stream"


class HttpTransport:
    """`Transport` over HTTP. Thread-safe."""

    def __init__(self, gateway_url: str, token: str | None = None) -> None:
        """Prepare a client; the first call connects.

        Raises:
            Invalid: `gateway_url` is not an http(s) address.
        """
        url = _checked(gateway_url)
        self._http = httpx.Client(
            base_url=url,
            headers=_headers(token),
            timeout=_timeout(),
            trust_env=not _is_loopback(url),
        )

    def _call(self, operation: Operation[T]) -> T:
        with _gateway_errors():
            return _read(self._http.send(_request(self._http, operation)), operation)

    def submit(self, request: RetrieveRequest, *, idempotency_key: str) -> Job:
        return self._call(operations.submit(request, idempotency_key))

    def search(self, request: AnySearch, *, idempotency_key: str) -> AnyResult | Job:
        return self._call(operations.search(request, idempotency_key))

    def job(self, job_id: str) -> Job:
        return self._call(operations.job(job_id))

    def jobs(
        self, *, state: JobState | None, limit: int | None, cursor: str | None
    ) -> tuple[tuple[Job, ...], str | None]:
        return self._call(operations.jobs(state, limit, cursor))

    def result(self, job_id: str) -> AnyResult:
        return self._call(operations.result(job_id))

    def events(
        self, job_id: str, *, after: str, wait_s: float
    ) -> Iterator[tuple[str, LogEntry | None]]:
        request = _request(self._http, operations.events(job_id, after), wait_s)
        with _gateway_errors():
            reply = self._http.send(request, stream=True)
        try:
            if not _is_stream(reply):
                reply.read()
                raise _no_stream(reply)
            stream = EventStream()
            for chunk in reply.iter_bytes():
                yield from stream.feed(chunk)
        except httpx.TransportError:
            return  # silence or a lost connection: the caller resumes
        finally:
            reply.close()

    def cancel(self, job_id: str) -> Job:
        return self._call(operations.cancel(job_id))

    def export(self, job_id: str, name: str) -> str:
        return self._call(operations.export(job_id, name))

    def bundle(self, job_id: str) -> bytes:
        return self._call(operations.bundle(job_id))

    def delegations(self, job_id: str) -> tuple[DelegationState, ...]:
        return self._call(operations.delegations(job_id))

    def answer(self, job_id: str, delegation_id: str, reply: DelegationReply) -> DelegationState:
        return self._call(operations.answer(job_id, delegation_id, reply))

    def remember(self, command: MemoryCommand, *, idempotency_key: str) -> bytes:
        return self._call(memory_operations.remember(command, idempotency_key))

    def sources(self) -> tuple[SourceView, ...]:
        return self._call(operations.sources())

    def close(self) -> None:
        self._http.close()


class AsyncHttpTransport:
    """`AsyncTransport` over HTTP; belongs to one event loop."""

    def __init__(self, gateway_url: str, token: str | None = None) -> None:
        """Prepare a client; the first call connects.

        Raises:
            Invalid: `gateway_url` is not an http(s) address.
        """
        url = _checked(gateway_url)
        self._http = httpx.AsyncClient(
            base_url=url,
            headers=_headers(token),
            timeout=_timeout(),
            trust_env=not _is_loopback(url),
        )

    async def _call(self, operation: Operation[T]) -> T:
        with _gateway_errors():
            return _read(await self._http.send(_request(self._http, operation)), operation)

    async def submit(self, request: RetrieveRequest, *, idempotency_key: str) -> Job:
        return await self._call(operations.submit(request, idempotency_key))

    async def search(self, request: AnySearch, *, idempotency_key: str) -> AnyResult | Job:
        return await self._call(operations.search(request, idempotency_key))

    async def job(self, job_id: str) -> Job:
        return await self._call(operations.job(job_id))

    async def jobs(
        self, *, state: JobState | None, limit: int | None, cursor: str | None
    ) -> tuple[tuple[Job, ...], str | None]:
        return await self._call(operations.jobs(state, limit, cursor))

    async def result(self, job_id: str) -> AnyResult:
        return await self._call(operations.result(job_id))

    async def events(
        self, job_id: str, *, after: str, wait_s: float
    ) -> AsyncGenerator[tuple[str, LogEntry | None], None]:
        request = _request(self._http, operations.events(job_id, after), wait_s)
        with _gateway_errors():
            reply = await self._http.send(request, stream=True)
        try:
            if not _is_stream(reply):
                await reply.aread()
                raise _no_stream(reply)
            stream = EventStream()
            async for chunk in reply.aiter_bytes():
                for line in stream.feed(chunk):
                    yield line
        except httpx.TransportError:
            return  # silence or a lost connection: the caller resumes
        finally:
            await reply.aclose()

    async def cancel(self, job_id: str) -> Job:
        return await self._call(operations.cancel(job_id))

    async def export(self, job_id: str, name: str) -> str:
        return await self._call(operations.export(job_id, name))

    async def bundle(self, job_id: str) -> bytes:
        return await self._call(operations.bundle(job_id))

    async def delegations(self, job_id: str) -> tuple[DelegationState, ...]:
        return await self._call(operations.delegations(job_id))

    async def answer(
        self, job_id: str, delegation_id: str, reply: DelegationReply
    ) -> DelegationState:
        return await self._call(operations.answer(job_id, delegation_id, reply))

    async def remember(self, command: MemoryCommand, *, idempotency_key: str) -> bytes:
        return await self._call(memory_operations.remember(command, idempotency_key))

    async def sources(self) -> tuple[SourceView, ...]:
        return await self._call(operations.sources())

    async def close(self) -> None:
        await self._http.aclose()


def _checked(gateway_url: str) -> httpx.URL:
    try:
        url = httpx.URL(gateway_url.rstrip("/"))
    except httpx.InvalidURL as error:
        raise Invalid("the gateway's address is not a URL", field="gateway_url") from error
    if url.scheme not in {"http", "https"} or not url.host:
        raise Invalid(
            "the gateway's address must begin with http:// or https://", field="gateway_url"
        )
    return url


def _headers(token: str | None) -> dict[str, str]:
    headers = {"User-Agent": "signal-search-sdk", "Accept": "application/json, */*;q=0.1"}
    if token is None:
        return headers
    if not token.isascii() or not token.isprintable():
        raise Invalid("the token has characters that no header can carry", field="token")
    return headers | {"Authorization": f"Bearer {token}"}


def _is_loopback(url: httpx.URL) -> bool:
    """Say whether the gateway is this machine: a configured proxy could not reach it."""
    try:
        return url.host == "localhost" or ipaddress.ip_address(url.host).is_loopback
    except ValueError:
        return False


def _request(
    http: httpx.Client | httpx.AsyncClient, operation: Operation[T], wait_s: float = _READ_S
) -> httpx.Request:
    return http.build_request(
        operation.method,
        operation.path,
        params=operation.query or None,
        headers=operation.headers,
        content=operation.body or None,
        timeout=_timeout(wait_s),
    )


def _timeout(read_s: float = _READ_S) -> httpx.Timeout:
    return httpx.Timeout(connect=5.0, read=read_s, write=30.0, pool=10.0)


def _read(reply: httpx.Response, operation: Operation[T]) -> T:
    if not reply.is_success:
        raise _error(reply)
    return operation.reader(reply.content)


def _error(reply: httpx.Response) -> SignalSearchError:
    headers = reply.headers
    return error_of(
        reply.status_code, reply.content, headers.get("Retry-After"), headers.get("Date")
    )


def _is_stream(reply: httpx.Response) -> bool:
    kind = reply.headers.get("Content-Type", "")
    return reply.is_success and kind.lower().startswith(_EVENT_STREAM)


def _no_stream(reply: httpx.Response) -> SignalSearchError:
    if not reply.is_success:
        return _error(reply)
    return Failed("the gateway's reply is not an event stream", code="gateway_bad_reply")


@contextmanager
def _gateway_errors() -> Iterator[None]:
    """Turn faults of the connection into ours; their own text may hold addresses."""
    try:
        yield
    except httpx.TimeoutException as error:
        raise Failed("the gateway did not answer in time", code=TIMED_OUT) from error
    except httpx.TransportError as error:
        raise Failed("the gateway could not be reached", code=UNREACHABLE) from error
    except httpx.DecodingError as error:
        raise Failed(
            "the gateway's reply could not be decoded", code="gateway_bad_reply"
        ) from error
