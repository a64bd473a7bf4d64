"""One exchange with a host, in the order of the policy: address, robots.txt, send, status. It reads as the policy.

Pace, budget and cache are asked before, by the one who holds the host; nothing here waits. A redirect is returned, not
followed, so that every hop goes the whole way again. Fails closed: without a valid robots record nothing is sent to a
page, a feed or a sitemap; what the guard cannot allow is not connected to. No captcha is solved, no name borrowed. A
key is read at the moment of sending and taken out of whatever comes back.
"""

from msgspec import Struct
from msgspec.structs import replace
from pydantic import SecretStr
from signal_search.contracts.source import FetchOutcome, Request, RequestKind, SkipReason
from signal_search.errors import (
    AddressRefused,
    BadReply,
    BodyTooLarge,
    Dropped,
    SourceFailed,
)

from infra.clock import Clock
from infra.http import HttpClient, RawReply
from infra.settings import Settings, secret
from workers.fetching.backoff import Pacing, Verdict, pacing_of
from workers.fetching.cache import fresh_ms, is_shareable, origin_of
from workers.fetching.credentials import outgoing, without_key
from workers.fetching.links import absolute
from workers.fetching.outcomes import missed, outcome_of_status, redirected, skipped
from workers.fetching.redaction import carries_secret, redact
from workers.fetching.robots import ROBOTS_PATH, RobotsRecord
from workers.fetching.robots_reader import RobotsReader
from workers.fetching.stated_limits import heed
from workers.fetching.stored_reply import StoredReply, conditions, confirms
from workers.fetching.url_guard import Target, UrlGuard
from workers.fetching.walls import is_login_address

_ACCEPT: dict[RequestKind, str] = {
    "page": "text/html,application/xhtml+xml,text/plain;q=0.9,application/pdf;q=0.9,*/*;q=0.1",
    "api": "application/json,application/atom+xml;q=0.9,application/xml;q=0.9,*/*;q=0.1",
    "feed": "application/atom+xml,application/rss+xml,application/xml;q=0.9,*/*;q=0.1",
    "sitemap": "application/xml,text/xml;q=0.9,text/plain;q=0.8,*/*;q=0.1",
}


class NeedsRobots(Struct, frozen=True, kw_only=True):
    """Nothing was sent: the robots.txt of `origin` must be read first (`fetch_robots`, `RobotsStore`)."""

    origin: str
    url: str


class Fetched(Struct, frozen=True, kw_only=True):
    """A reply to be parsed (status 200 or 203); fresh_ms: for how long what is parsed may be shared.

    robots: what allowed it, for the trace; empty for an API.
    """

    raw: RawReply
    pacing: Pacing
    fresh_ms: int
    robots: str = ""


class Unchanged(Struct, frozen=True, kw_only=True):
    """The stored reply still holds, says its origin (status 304)."""

    raw: RawReply
    pacing: Pacing
    robots: str = ""


class Finished(Struct, frozen=True, kw_only=True):
    """The fetch is over: skipped, missed or redirected.

    was_dropped: an idle connection was closed as the request went out on it, so that it should be sent once more. The
    next one opens a connection of its own, which cannot be dropped.
    """

    outcome: FetchOutcome
    pacing: Pacing
    fresh_ms: int = 0
    robots: str = ""
    was_dropped: bool = False


Exchange = NeedsRobots | Fetched | Unchanged | Finished


class Fetcher:
    """The one way out for sources. Stateless; safe for many exchanges at once on one event loop."""

    def __init__(
        self, settings: Settings, client: HttpClient, guard: UrlGuard, clock: Clock
    ) -> None:
        """Take the parts; `guard` must be the one the client connects by."""
        self._settings = settings
        self._client = client
        self._guard = guard
        self._clock = clock
        self._robots = RobotsReader(settings, client, guard, clock)

    async def fetch(
        self, request: Request, robots: RobotsRecord | None, stored: StoredReply | None = None
    ) -> Exchange:
        """Make the one exchange a request asks for. `robots` is the record of its origin, if there is one.

        stored: a stale reply to the same request; then only a changed one is asked for.

        Raises nothing of ours: every refusal and failure is an outcome.
        """
        try:
            target = self._guard.target(request.url)
        except AddressRefused as error:
            return Finished(outcome=_refused(request, error), pacing=Pacing())
        if request.kind == "api":
            return await self._send(request, target, stored)
        return await self._by_robots(request, target, robots, stored)

    async def _by_robots(
        self,
        request: Request,
        target: Target,
        robots: RobotsRecord | None,
        stored: StoredReply | None,
    ) -> Exchange:
        origin = origin_of(target.url)
        if robots is None or robots.origin != origin or not robots.is_valid(self._clock.now_ms()):
            return NeedsRobots(origin=origin, url=origin + ROBOTS_PATH)
        decision = robots.check(self._settings.fetch.product, target.url)
        if robots.state == "unreachable":
            closed = _forbidden(request, SkipReason.ROBOTS_UNREACHABLE, robots.detail)
            until = replace(closed.outcome, until_ms=robots.expires_at_ms)
            return replace(closed, outcome=until)
        line = redact(decision.line)  # a comment in it may name the webmaster
        if not decision.allowed:
            return _forbidden(request, SkipReason.ROBOTS, line)
        delay_s = decision.crawl_delay_s
        if delay_s is not None and delay_s > self._settings.politeness.max_crawl_delay_s:
            return _forbidden(request, SkipReason.CRAWL_DELAY, f"Crawl-delay: {delay_s:g}")
        made = await self._send(request, target, stored, delay_s)
        return replace(made, robots=line or robots.detail or "no rule applies")

    async def _send(
        self,
        request: Request,
        target: Target,
        stored: StoredReply | None,
        crawl_delay_s: float | None = None,
    ) -> Fetched | Unchanged | Finished:
        key = secret(request.auth)
        if request.auth and (refusal := self._key_refusal(request, target, key)):
            return refusal
        try:
            raw = await self._client.send(
                outgoing(request, target.url, self._headers(request, stored), key)
            )
        except AddressRefused as error:
            return Finished(outcome=_refused(request, error), pacing=Pacing())
        except SourceFailed as error:
            return Finished(
                outcome=missed(request, error),
                pacing=_failed(error, crawl_delay_s),
                was_dropped=isinstance(error, Dropped),
            )
        raw = without_key(raw, target.url, key)
        if confirms(stored, raw):
            pacing = pacing_of(raw.status, raw.headers, raw.fetched_at_ms, crawl_delay_s)
            return Unchanged(raw=raw, pacing=pacing)
        return self._judged(request, raw, crawl_delay_s)

    def _key_refusal(self, request: Request, target: Target, key: SecretStr) -> Finished | None:
        """Return why a request that needs a key is not sent, None when it may be."""
        if not key.get_secret_value():
            return _forbidden(request, SkipReason.NOT_CONFIGURED, "its key is not set here")
        if target.scheme != "https" and not self._guard.is_loopback(target.url):
            return _forbidden(request, SkipReason.ADDRESS, "a key is not sent over plain HTTP")
        return None

    def _headers(self, request: Request, stored: StoredReply | None) -> dict[str, str]:
        headers = {
            **conditions(stored),
            "user-agent": self._user_agent(request),
            "accept": _ACCEPT[request.kind],
        }
        if request.accept_language:
            headers["accept-language"] = request.accept_language
        return headers

    def _user_agent(self, request: Request) -> str:
        """Return our name; in the plain form with a mail address for who refuses addresses of pages (the SEC)."""
        ours, mail = self._settings.fetch, request.headers.get("from", "")
        return f"{ours.product}/{ours.version} {mail}" if mail else ours.user_agent

    def _judged(
        self, request: Request, raw: RawReply, crawl_delay_s: float | None
    ) -> Fetched | Finished:
        raw = heed(raw) if request.kind == "api" else raw
        pacing = pacing_of(raw.status, raw.headers, raw.fetched_at_ms, crawl_delay_s)
        fresh = fresh_ms(raw.status, raw.headers, raw.fetched_at_ms, self._settings.cache)
        fresh = fresh if is_shareable(request) else 0
        if 300 <= raw.status < 400:
            return Finished(outcome=self._hop(request, raw), pacing=pacing, fresh_ms=fresh)
        outcome = outcome_of_status(request, raw)
        if outcome is None:
            return Fetched(raw=raw, pacing=pacing, fresh_ms=fresh)
        return Finished(outcome=outcome, pacing=pacing, fresh_ms=fresh)

    def _hop(self, request: Request, raw: RawReply) -> FetchOutcome:
        """Return where a redirect leads, unless it leads to a log-in page, nowhere, or where we may not go."""
        location = raw.headers.get("location", "")
        to = absolute(raw.url, location) if location else ""
        if not to or to == raw.url:
            return missed(request, BadReply(), "a redirect that leads nowhere", raw=raw)
        try:
            target = self._guard.target(to)
        except AddressRefused as error:
            return skipped(request, SkipReason.ADDRESS, error.message, raw=raw)
        if request.kind != "api" and is_login_address(target.url):
            return skipped(request, SkipReason.LOGIN_WALL, "redirect to a log-in page", raw=raw)
        if carries_secret(target.url):
            return skipped(request, SkipReason.ADDRESS, "the redirect carries a secret", raw=raw)
        return redirected(request, raw, target.url)

    def robots_url(self, origin_url: str, previous: RobotsRecord | None) -> str:
        """Return what `fetch_robots` asks for next; see `RobotsReader.where`."""
        return self._robots.where(origin_url, previous)

    async def fetch_robots(
        self, origin_url: str, previous: RobotsRecord | None = None
    ) -> RobotsRecord:
        """Make one exchange for the robots.txt of a URL's origin; see `RobotsReader.read`.

        Raises:
            AddressRefused: the origin itself may not be asked.
        """
        return await self._robots.read(origin_url, previous)


def _refused(request: Request, error: AddressRefused) -> FetchOutcome:
    return skipped(request, SkipReason.ADDRESS, error.message)


def _forbidden(request: Request, reason: SkipReason, detail: str) -> Finished:
    return Finished(outcome=skipped(request, reason, detail), pacing=Pacing())


def _failed(error: SourceFailed, crawl_delay_s: float | None) -> Pacing:
    """A host that is too slow, away or garbling is in trouble; one whose page is too large is not."""
    verdict: Verdict = "fine" if isinstance(error, BodyTooLarge) else "fault"
    return Pacing(verdict=verdict, crawl_delay_s=crawl_delay_s)
