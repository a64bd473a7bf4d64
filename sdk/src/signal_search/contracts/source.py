"""Requests to sources, and what comes back: pure data between adapters, the fetcher and the job log."""

from enum import StrEnum
from typing import Literal

from msgspec import Struct

from signal_search.contracts.document import Document
from signal_search.contracts.hit import Hit

RequestKind = Literal["page", "api", "feed", "sitemap"]
Method = Literal["GET", "POST"]


class SourceQuery(Struct, frozen=True, kw_only=True):
    """What a job asks of one source. `text` is the sub-question; `terms` its search words, best first.

    today: the ISO day in UTC on which it is asked, for who has to turn "past week" into days; "" where nothing depends
    on it. with_answer: the source's own answer, a model's, is wanted beside its hits. about_news: the question asks for
    news, where a source has a part of its own for them.
    """

    text: str
    terms: tuple[str, ...] = ()
    language: str = "en"
    freshness: str | None = None
    limit: int = 5
    today: str = ""
    with_answer: bool = False
    about_news: bool = False


class Request(Struct, frozen=True, kw_only=True):
    """One HTTP request to make. `kind` page/feed/sitemap obeys robots.txt; api obeys the API's own terms.

    `adapter` names who parses the reply; `site` bounds follow-ups of a site source (scheme://host:port/prefix).
    body: sent with a POST; headers: what the API asks for besides ours, never a secret. auth: the NAME of the
    environment variable with the operator's key, empty for none; the fetcher puts its value at `auth_place` when it
    sends: "bearer", "header:NAME" or "query:NAME". meanings: what this API means by a status, for the outcome's reader.
    answers: statuses besides 200 whose body is an answer too (a 404 that says "no matches").
    """

    url: str
    adapter: str
    source_id: str
    kind: RequestKind = "page"
    accept_language: str = ""
    depth: int = 0
    site: str = ""
    method: Method = "GET"
    body: str = ""
    headers: dict[str, str] = {}
    auth: str = ""
    auth_place: str = "bearer"
    meanings: dict[int, str] = {}
    answers: tuple[int, ...] = ()
    words: str = ""


class Link(Struct, frozen=True, kw_only=True, array_like=True):
    """A link found on a page: where to, the words on it and around it."""

    url: str
    text: str = ""
    context: str = ""


class Reply(Struct, frozen=True, kw_only=True):
    """A decoded HTTP reply as an adapter sees it. `text` is decoded by the declared or detected charset."""

    url: str
    status: int
    content_type: str
    body: bytes
    text: str
    fetched_at_ms: int
    headers: dict[str, str] = {}


class Parsed(Struct, frozen=True, kw_only=True):
    """What an adapter or the extractor made of a reply.

    documents: evidence texts; requests: follow-ups the adapter wants made for them;
    links: where a page points to (site sources choose among them); note: why something is missing, for the trace.
    total: how many matches the source claims to have (None if it does not say); 0 means "no results".
    pause_s: for how many seconds the source asks, in its reply, not to be called again.
    hits: lines of a search that are no evidence, because they have no excerpt or a model wrote it; answer: what a model
    of the source says. A search shows both, labelled; neither counts as a document.
    """

    documents: tuple[Document, ...] = ()
    requests: tuple[Request, ...] = ()
    links: tuple[Link, ...] = ()
    redirect_to: str = ""
    note: str = ""
    total: int | None = None
    pause_s: float = 0.0
    hits: tuple[Hit, ...] = ()
    answer: str = ""


class FetchState(StrEnum):
    """How one fetch ended, seen from the job."""

    FETCHED = "fetched"
    REDIRECTED = "redirected"
    SKIPPED = "skipped"
    MISSED = "missed"


class SkipReason(StrEnum):
    """Why our own policy did not make or keep a fetch."""

    ROBOTS = "robots"
    ROBOTS_UNREACHABLE = "robots_unreachable"
    CRAWL_DELAY = "crawl_delay_too_long"
    ADDRESS = "address"
    LOGIN_WALL = "login_wall"
    PAY_WALL = "pay_wall"
    CHALLENGE = "challenge"
    NOINDEX = "noindex"
    BUDGET = "budget"
    QUOTA = "quota"
    SUSPENDED = "suspended"
    QUEUE_FULL = "queue_full"
    DEADLINE = "deadline"
    NOT_CONFIGURED = "not_configured"
    CONTENT_TYPE = "content_type"
    EMPTY = "empty"
    DUPLICATE = "duplicate"


class FetchOutcome(Struct, frozen=True, kw_only=True):
    """The outcome of one fetch: what was parsed, or why there is nothing.

    reason: a SkipReason or an error code of the Failed family; detail: one sentence for the trace (the deciding
    robots line, the status); until_ms: when a suspended host may be asked again; bytes: body bytes read.
    decisions: what was decided on the way, by name, for the trace: robots (the line that allowed it), cache (renewed
    or stale), charset, extraction_ratio.
    """

    state: FetchState
    url: str
    status: int = 0
    reason: str = ""
    detail: str = ""
    until_ms: int | None = None
    bytes: int = 0
    fetched_at_ms: int = 0
    parsed: Parsed = Parsed()
    decisions: dict[str, str | float] = {}


class SourceView(Struct, frozen=True, kw_only=True):
    """One row of the registry as this deployment sees it.

    key_present: whether what the operator has to give (a key, the address of their own server) is there; None: nothing.
    """

    id: str
    name: str
    kind: str
    category: str
    languages: tuple[str, ...]
    topics: tuple[str, ...]
    access: str
    enabled: bool
    key_present: bool | None
    constraints: tuple[str, ...]
    terms: str
    next_free_ms: int | None = None
    health: str = "unknown"
    force_include: bool = False
    quality: str = ""
    alternative: tuple[str, ...] = ()
