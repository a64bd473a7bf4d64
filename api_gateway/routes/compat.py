"""The faces of other APIs under /compat: their requests decoded, the engine asked, its result in their words.

What is particular to a face is in `api_gateway/compat/`; jobs are submitted, waited for and ended as everywhere.
"""

from collections.abc import Mapping
from typing import Final, cast
from urllib.parse import parse_qsl, urlencode

import msgspec
from litestar import HttpMethod, Response, delete, get, post, route
from litestar.concurrency import sync_to_thread
from litestar.params import FromPath
from signal_search.contracts.job import Job
from signal_search.contracts.outcome import decode_result
from signal_search.contracts.search import SearchRequest
from signal_search.contracts.search_result import SearchResult
from signal_search.errors import Broken, Conflict, Invalid, TimedOut

from api_gateway.asgi import Receive, Scope, header
from api_gateway.compat import (
    crawl_reply,
    firecrawl_crawl,
    firecrawl_search,
    searxng,
    searxng_fields,
    tavily,
)
from api_gateway.compat.asked import day_of
from api_gateway.compat.crawl_walk import Crawl
from api_gateway.compat.crawl_wire import Begun, Cancelled
from api_gateway.compat.firecrawl_wire import FirecrawlSearch
from api_gateway.compat.tavily_wire import TavilySearch
from api_gateway.crawled import read_crawl
from api_gateway.decode import decode_face
from api_gateway.door import Door, HttpRequest, door_of, reader_in
from api_gateway.owners import Reader
from api_gateway.params import crawl_page
from api_gateway.paths import FIRECRAWL, SEARXNG_SEARCH, TAVILY_SEARCH
from api_gateway.replies import as_json
from api_gateway.routes.retrieve import caller_in, ends
from api_gateway.search_checks import check_search
from api_gateway.specs import patience_s
from infra.job_log import JobLog

_CRAWL: Final = f"{FIRECRAWL}/v2/crawl"
_TAVILY: Final = msgspec.json.Decoder(TavilySearch)
_SEARCH: Final = msgspec.json.Decoder(FirecrawlSearch)
_CRAWLING: Final = msgspec.json.Decoder(firecrawl_crawl.CrawlRequest)


@post(TAVILY_SEARCH, status_code=200)
async def tavily_search(request: HttpRequest) -> Response[bytes]:
    """Answer as Tavily's search does."""
    door = door_of(request)
    began = door.clock.monotonic()
    asked = decode_face(_TAVILY, await request.body())
    today = day_of(await sync_to_thread(door.clock.now_ms))
    result = await _searched(request, tavily.request_of(asked, today))
    took_s = door.clock.monotonic() - began
    request_id: str = request.scope["state"]["request_id"]
    return as_json(tavily.reply_of(asked, result, took_s=took_s, request_id=request_id))


@route(SEARXNG_SEARCH, http_method=[HttpMethod.GET, HttpMethod.POST], status_code=200)
async def searxng_search(request: HttpRequest) -> Response[bytes]:
    """Answer as a SearXNG does that has JSON enabled."""
    asked = searxng_fields.read(
        _fields(request.scope["query_string"] + b"&" + await request.body())
    )
    try:
        result = await _searched(request, searxng.request_of(asked))
    except Invalid as error:
        raise searxng.in_its_words(error) from None
    return as_json(searxng.reply_of(asked, result))


@post(f"{FIRECRAWL}/v2/search", status_code=200)
async def firecrawl_web(request: HttpRequest) -> Response[bytes]:
    """Answer as Firecrawl's search does."""
    door = door_of(request)
    asked = decode_face(_SEARCH, await request.body())
    today = day_of(await sync_to_thread(door.clock.now_ms))
    usual_s = door.settings.search.deadline_s
    ours = firecrawl_search.request_of(asked, today, usual_s=usual_s)
    return as_json(firecrawl_search.reply_of(asked, await _searched(request, ours)))


@post(_CRAWL, status_code=200)
async def begin_crawl(request: HttpRequest) -> Response[bytes]:
    """Submit the job of a crawl; `x-idempotency-key` is ours under Firecrawl's name."""
    door = door_of(request)
    asked = decode_face(_CRAWLING, await request.body())
    most = door.settings.sources.site.max_pages
    pause_s = door.settings.politeness.interval_s
    ours = firecrawl_crawl.request_of(asked, most_pages=most, pause_s=pause_s)
    caller = caller_in(cast("Scope", request.scope))
    key = request.headers.get("x-idempotency-key") or caller.idempotency_key
    job, _is_new = await door.intake.submit(
        ours, msgspec.structs.replace(caller, idempotency_key=key)
    )
    warning = firecrawl_crawl.clamped(asked, most_pages=most)
    begun = Begun(
        id=job.id,
        url=_address(request, job.id),
        warning=warning if warning is not None else msgspec.UNSET,
    )
    return as_json(begun)


@route(f"{_CRAWL}/{{job_id:str}}", http_method=[HttpMethod.OPTIONS])
async def crawl_options() -> Response[bytes]:
    """Name the methods, as for jobs."""
    return Response(b"", status_code=204, headers={"allow": "DELETE, GET, HEAD, OPTIONS"})


@get(f"{_CRAWL}/{{job_id:str}}")
async def show_crawl(request: HttpRequest, job_id: FromPath[str]) -> Response[bytes]:
    """Answer with a crawl's state and a page of what it has read."""
    skip, most = crawl_page(request.query_params)
    crawl = await _crawl(request, job_id)
    last = crawl_reply.last_shown(crawl.walked.pages, skip, most)
    is_more = last < len(crawl.walked.pages)
    next_url = _address(request, job_id, skip=last, limit=most) if is_more else None
    return as_json(crawl_reply.status_of(crawl, first=skip, last=last, next_url=next_url))


@get(f"{_CRAWL}/{{job_id:str}}/errors")
async def show_crawl_errors(request: HttpRequest, job_id: FromPath[str]) -> Response[bytes]:
    """Answer with the pages that were not read, and why."""
    return as_json(crawl_reply.faults_of((await _crawl(request, job_id)).walked))


@delete(f"{_CRAWL}/{{job_id:str}}", status_code=200)
async def cancel_crawl(request: HttpRequest, job_id: FromPath[str]) -> Response[bytes]:
    """End a crawl."""
    await _crawl(request, job_id)
    await sync_to_thread(door_of(request).desk.cancel, job_id, reader_in(request))
    return as_json(Cancelled())


async def _searched(request: HttpRequest, asked: SearchRequest) -> SearchResult:
    """Return the result of a search that was submitted and waited for.

    Raises:
        TimedOut: it did not end in time, or nobody works; it is cancelled, as nobody would come for it.
    """
    check_search(asked)
    door, scope = door_of(request), cast("Scope", request.scope)
    caller = caller_in(scope)
    job, _is_new = await door.intake.submit(asked, caller)
    receive = cast("Receive", request.receive)
    if not await ends(door, job, patience_s(job, door.settings), receive):
        await _give_up(door, job, caller.reader)
        raise TimedOut("The search did not end in time.")
    result = decode_result(await sync_to_thread(door.desk.result, job.id, caller.reader))
    if not isinstance(result, SearchResult):
        raise Broken
    return result


async def _give_up(door: Door, job: Job, reader: Reader) -> None:
    try:
        await sync_to_thread(door.desk.cancel, job.id, reader)
    except Conflict:  # it ended at that moment
        return


async def _crawl(request: HttpRequest, job_id: str) -> Crawl:
    door = door_of(request)
    log = JobLog(door.redis)
    return await sync_to_thread(read_crawl, door.desk, log, job_id, reader_in(request))


def _fields(pairs: bytes) -> Mapping[str, str]:
    """Return parameters; of one that comes twice, the first."""
    try:
        found = parse_qsl(pairs.decode("utf-8"), keep_blank_values=True, errors="strict")
    except (UnicodeError, ValueError):
        raise Invalid("The parameters are not UTF-8.", field="q") from None
    return dict(reversed(found))


def _address(request: HttpRequest, job_id: str, **params: int) -> str:
    """Return a crawl's address as its caller reaches this gateway."""
    host = header(cast("Scope", request.scope), b"host") or ""
    query = f"?{urlencode(params)}" if params else ""
    return f"{request.url.scheme}://{host}{_CRAWL}/{job_id}{query}"
