"""One exchange with a host, in the order of the policy: address, robots.txt, send, status. It reads as the policy.

Pace, budget and cache are asked before, by the one who holds the host; nothing here waits. A redirect is returned, not
followed, so that every hop goes the whole way again. Fails closed: without a valid robots record nothing is sent to a
page, a feed or a sitemap; what the guard cannot allow is not connected to. No captcha is solved, no name borrowed.
"""

from msgspec import Struct
from signal_search.contracts.source import FetchOutcome, Request, RequestKind, SkipReason
from signal_search.errors import (
    AddressRefused,
    BadReply,
    BodyTooLarge,
    SourceFailed,
)

from infra.clock import Clock
from infra.http import HttpClient, RawReply
from infra.settings import Settings
from workers.fetching.backoff import Pacing, Verdict, pacing_of
from workers.fetching.cache import fresh_ms, origin_of, stated_life_s
from workers.fetching.links import absolute
from workers.fetching.outcomes import missed, outcome_of_status, redirected, skipped
from workers.fetching.redaction import carries_secret
from workers.fetching.robots import ROBOTS_PATH, RobotsRecord, State, classify, parse
from workers.fetching.url_guard import Target, UrlGuard
from workers.fetching.walls import is_login_address

_ROBOTS_HOPS = 5  # RFC 9309, 2.3.1.2
_SHORTEST_ROBOTS_TTL_S = 3600.0  # a host's cache headers may shorten the day, not to nothing
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
    """A reply to be parsed (status 200 or 203); fresh_ms: for how long what is parsed may be shared."""

    raw: RawReply
    pacing: Pacing
    fresh_ms: int


class Finished(Struct, frozen=True, kw_only=True):
    """The fetch is over: skipped, missed or redirected."""

    outcome: FetchOutcome
    pacing: Pacing
    fresh_ms: int = 0


Exchange = NeedsRobots | Fetched | Finished


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

    async def fetch(self, request: Request, robots: RobotsRecord | None) -> Exchange:
        """Make the one exchange a request asks for. `robots` is the record of its origin, if there is one.

        Raises nothing of ours: every refusal and failure is an outcome.
        """
        try:
            target = self._guard.target(request.url)
        except AddressRefused as error:
            return Finished(outcome=_refused(request, error), pacing=Pacing())
        if request.kind == "api":
            return await self._send(request, target, None)
        return await self._by_robots(request, target, robots)

    async def _by_robots(
        self, request: Request, target: Target, robots: RobotsRecord | None
    ) -> Exchange:
        origin = origin_of(target.url)
        if robots is None or robots.origin != origin or not robots.is_valid(self._clock.now_ms()):
            return NeedsRobots(origin=origin, url=origin + ROBOTS_PATH)
        decision = robots.check(self._settings.fetch.product, target.url)
        if robots.state == "unreachable":
            return _forbidden(request, SkipReason.ROBOTS_UNREACHABLE, robots.detail)
        if not decision.allowed:
            return _forbidden(request, SkipReason.ROBOTS, decision.line)
        delay_s = decision.crawl_delay_s
        if delay_s is not None and delay_s > self._settings.politeness.max_crawl_delay_s:
            return _forbidden(request, SkipReason.CRAWL_DELAY, f"Crawl-delay: {delay_s:g}")
        return await self._send(request, target, delay_s)

    async def _send(
        self, request: Request, target: Target, crawl_delay_s: float | None
    ) -> Exchange:
        try:
            raw = await self._client.get(target.url, headers=self._headers(request))
        except AddressRefused as error:
            return Finished(outcome=_refused(request, error), pacing=Pacing())
        except SourceFailed as error:
            return Finished(outcome=missed(request, error), pacing=_failed(error, crawl_delay_s))
        return self._judged(request, raw, crawl_delay_s)

    def _headers(self, request: Request) -> dict[str, str]:
        headers = {
            "user-agent": self._settings.fetch.user_agent,
            "accept": _ACCEPT[request.kind],
        }
        if request.accept_language:
            headers["accept-language"] = request.accept_language
        return headers

    def _judged(self, request: Request, raw: RawReply, crawl_delay_s: float | None) -> Exchange:
        pacing = pacing_of(raw.status, raw.headers, raw.fetched_at_ms, crawl_delay_s)
        fresh = fresh_ms(raw.status, raw.headers, raw.fetched_at_ms, self._settings.cache)
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

    async def fetch_robots(
        self, origin_url: str, previous: RobotsRecord | None = None
    ) -> RobotsRecord:
        """Read the robots.txt of a URL's origin; `previous` lets the wait after failures grow.

        Redirects are followed here, each hop guarded, and the result counts for the first origin (RFC 9309, 2.3.1.2).

        Raises:
            AddressRefused: the origin itself may not be asked.
        """
        origin = origin_of(self._guard.target(origin_url).url)
        try:
            raw = await self._robots_reply(origin + ROBOTS_PATH)
        except (AddressRefused, SourceFailed) as error:
            return self._unreachable(origin, error.code, previous)
        state = classify(raw.status)
        if state == "unreachable":
            return self._unreachable(origin, f"status {raw.status}", previous)
        return self._record(origin, state, raw)

    async def _robots_reply(self, url: str) -> RawReply:
        headers = {"user-agent": self._settings.fetch.user_agent, "accept": "text/plain,*/*;q=0.1"}
        raw = await self._robots_hop(url, headers)
        for _ in range(_ROBOTS_HOPS):
            location = raw.headers.get("location", "")
            if not 300 <= raw.status < 400 or not location:
                break
            raw = await self._robots_hop(absolute(raw.url, location), headers)
        return raw

    async def _robots_hop(self, url: str, headers: dict[str, str]) -> RawReply:
        target = self._guard.target(url)
        limit = self._settings.robots.max_bytes
        return await self._client.get(target.url, headers=headers, max_body_bytes=limit, cut=True)

    def _record(self, origin: str, state: State, raw: RawReply) -> RobotsRecord:
        limits = self._settings.robots
        stated_s = stated_life_s(raw.headers, raw.fetched_at_ms)
        wanted_s = limits.ttl_s if stated_s is None else max(stated_s, _SHORTEST_ROBOTS_TTL_S)
        life_ms = round(min(wanted_s, limits.ttl_s) * 1000)
        return RobotsRecord(
            origin=origin,
            state=state,
            fetched_at_ms=raw.fetched_at_ms,
            expires_at_ms=raw.fetched_at_ms + life_ms,
            robots=parse(raw.body if state == "rules" else b"").only(self._settings.fetch.product),
            detail=f"robots.txt answered {raw.status}",
        )

    def _unreachable(self, origin: str, why: str, previous: RobotsRecord | None) -> RobotsRecord:
        limits = self._settings.robots
        failures = previous.failures + 1 if previous else 1
        life_s = min(limits.unreachable_ttl_s * 2 ** min(failures - 1, 16), limits.ttl_s)
        now_ms = self._clock.now_ms()
        return RobotsRecord(
            origin=origin,
            state="unreachable",
            fetched_at_ms=now_ms,
            expires_at_ms=now_ms + life_s * 1000,
            failures=failures,
            detail=f"robots.txt could not be read ({why})",
        )


def _refused(request: Request, error: AddressRefused) -> FetchOutcome:
    return skipped(request, SkipReason.ADDRESS, error.message)


def _forbidden(request: Request, reason: SkipReason, detail: str) -> Finished:
    return Finished(outcome=skipped(request, reason, detail), pacing=Pacing())


def _failed(error: SourceFailed, crawl_delay_s: float | None) -> Pacing:
    """A host that is too slow, away or garbling is in trouble; one whose page is too large is not."""
    verdict: Verdict = "fine" if isinstance(error, BodyTooLarge) else "fault"
    return Pacing(verdict=verdict, crawl_delay_s=crawl_delay_s)
