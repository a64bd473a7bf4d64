"""Reading the robots.txt of an origin, one exchange at a time: a redirect is remembered, the next slot goes on with it.

So a server sees no two requests closer than its interval, and of a chain of redirects no more bytes are read in all
than of one file. The result counts for the first origin, wherever the chain leads (RFC 9309, 2.3.1.2).
"""

from signal_search.errors import AddressRefused, Dropped, SourceFailed

from infra.clock import Clock
from infra.http import HttpClient, RawReply
from infra.settings import Settings
from workers.fetching.backoff import retry_after_s
from workers.fetching.cache import origin_of, stated_life_s
from workers.fetching.links import absolute
from workers.fetching.robots import ROBOTS_PATH, RobotsRecord, State, classify, parse
from workers.fetching.url_guard import UrlGuard

_MAX_HOPS = 5  # RFC 9309, 2.3.1.2
_HOP_LIFE_MS = 3_600_000  # a chain that was left for longer begins anew
_SHORTEST_TTL_S = 3600.0  # a host's cache headers may shorten the day, not to nothing
_LEAST_PARSED_BYTES = 512_000  # RFC 9309, 2.5: what must be parsed at least


class RobotsReader:
    """Stateless; safe for many exchanges at once on one event loop."""

    def __init__(
        self, settings: Settings, client: HttpClient, guard: UrlGuard, clock: Clock
    ) -> None:
        """Take the parts; `guard` must be the one the client connects by."""
        self._settings = settings
        self._client = client
        self._guard = guard
        self._clock = clock

    async def read(self, origin_url: str, previous: RobotsRecord | None) -> RobotsRecord:
        """Make one exchange for the robots.txt of a URL's origin.

        `previous` is what is known of the origin: a redirect to go on with, or failures that let the wait grow. The
        result is of state "moved" when one more exchange is needed; such a record is never valid.

        Raises:
            AddressRefused: the origin itself may not be asked.
        """
        origin = origin_of(self._guard.target(origin_url).url)
        before = self._chain(origin, previous)
        try:
            raw = await self._exchange(before)
            return self._judged(before, raw)
        except (
            Dropped
        ):  # an idle connection was closed: the next slot asks again, on one of its own
            return before
        except (AddressRefused, SourceFailed) as error:
            return self._unreachable(before, error.code)

    def _chain(self, origin: str, previous: RobotsRecord | None) -> RobotsRecord:
        now_ms = self._clock.now_ms()
        known = previous if previous is not None and previous.origin == origin else None
        if known and known.state == "moved" and now_ms - known.fetched_at_ms < _HOP_LIFE_MS:
            return known
        return RobotsRecord(
            origin=origin,
            state="moved",
            fetched_at_ms=now_ms,
            expires_at_ms=now_ms,
            failures=known.failures if known else 0,
            next_url=origin + ROBOTS_PATH,
        )

    def where(self, origin_url: str, previous: RobotsRecord | None) -> str:
        """Return what `read` asks for next, perhaps on another host, whose pace counts then.

        Raises:
            AddressRefused: the origin may not be asked.
        """
        return self._chain(origin_of(self._guard.target(origin_url).url), previous).next_url

    async def _exchange(self, chain: RobotsRecord) -> RawReply:
        headers = {"user-agent": self._settings.fetch.user_agent, "accept": "text/plain,*/*;q=0.1"}
        target = self._guard.target(chain.next_url)
        return await self._client.get(
            target.url, headers=headers, max_body_bytes=self._room(chain), cut=True
        )

    def _room(self, chain: RobotsRecord) -> int:
        return self._settings.robots.max_bytes - chain.read_bytes

    def _judged(self, chain: RobotsRecord, raw: RawReply) -> RobotsRecord:
        location = raw.headers.get("location", "")
        if 300 <= raw.status < 400 and location and chain.hops < _MAX_HOPS:
            moved = self._moved(chain, raw, absolute(raw.url, location))
            if moved.next_url != chain.next_url:  # to itself, it would answer the same for ever
                return moved
        state = classify(raw.status)
        if state == "unreachable":
            wait_s = retry_after_s(raw.headers, raw.fetched_at_ms) or 0.0
            return self._unreachable(chain, f"status {raw.status}", wait_s)
        if state == "rules" and raw.cut and self._room(chain) < _LEAST_PARSED_BYTES:
            return self._unreachable(chain, "too many bytes on the way")
        return self._record(chain.origin, state, raw)

    def _moved(self, chain: RobotsRecord, raw: RawReply, to: str) -> RobotsRecord:
        read_bytes = chain.read_bytes + len(raw.body)
        if read_bytes >= self._settings.robots.max_bytes:
            return self._unreachable(chain, "too many bytes on the way")
        return RobotsRecord(
            origin=chain.origin,
            state="moved",
            fetched_at_ms=raw.fetched_at_ms,
            expires_at_ms=raw.fetched_at_ms,
            failures=chain.failures,
            detail="robots.txt was moved",
            next_url=self._guard.target(to).url,
            hops=chain.hops + 1,
            read_bytes=read_bytes,
        )

    def _record(self, origin: str, state: State, raw: RawReply) -> RobotsRecord:
        limits = self._settings.robots
        stated_s = stated_life_s(raw.headers, raw.fetched_at_ms)
        wanted_s = limits.ttl_s if stated_s is None else max(stated_s, _SHORTEST_TTL_S)
        life_ms = round(min(wanted_s, limits.ttl_s) * 1000)
        return RobotsRecord(
            origin=origin,
            state=state,
            fetched_at_ms=raw.fetched_at_ms,
            expires_at_ms=raw.fetched_at_ms + life_ms,
            robots=parse(raw.body if state == "rules" else b"").only(self._settings.fetch.product),
            detail=f"robots.txt answered {raw.status}",
        )

    def _unreachable(self, chain: RobotsRecord, why: str, wait_s: float = 0.0) -> RobotsRecord:
        """Wait longer with each failure, and at least for as long as the host asks; a day at most."""
        limits = self._settings.robots
        failures = chain.failures + 1
        grown_s = limits.unreachable_ttl_s * 2 ** min(failures - 1, 16)
        life_s = min(max(grown_s, wait_s), limits.ttl_s)
        now_ms = self._clock.now_ms()
        return RobotsRecord(
            origin=chain.origin,
            state="unreachable",
            fetched_at_ms=now_ms,
            expires_at_ms=now_ms + round(life_s * 1000),
            failures=failures,
            detail=f"robots.txt could not be read ({why})",
        )
