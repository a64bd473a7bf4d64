"""The ASGI application: the Host header chooses the site, faults spoil its answer, every request is logged.

`/__log` (GET, DELETE) and `/__faults` (GET, POST, DELETE) answer on every host and are neither logged nor spoiled.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import msgspec

from infra.clock import Clock
from infra.ids import digest
from infra.loopback_web import exchange, plain_sites, rfcs, vulnerabilities
from infra.loopback_web.arxiv import Arxiv
from infra.loopback_web.brave import Brave
from infra.loopback_web.cratesio import CratesIo
from infra.loopback_web.crossref import Crossref
from infra.loopback_web.exa import Exa
from infra.loopback_web.exchange import Answer, Ask, Host
from infra.loopback_web.faults import Fault, Faults, spoil
from infra.loopback_web.github import GitHub
from infra.loopback_web.grok import Grok
from infra.loopback_web.hackernews import HackerNews
from infra.loopback_web.internetarchive import InternetArchive
from infra.loopback_web.mdn import Mdn
from infra.loopback_web.model import Model
from infra.loopback_web.official_hosts import OFFICIAL_HOSTS, official_sites
from infra.loopback_web.openlibrary import OpenLibrary
from infra.loopback_web.registers import registers
from infra.loopback_web.request_log import Entry, RequestLog
from infra.loopback_web.searxng import Searxng
from infra.loopback_web.shelf import Shelf
from infra.loopback_web.stackexchange import StackExchange
from infra.loopback_web.tavily import Tavily
from infra.loopback_web.vulnerabilities import Nvd
from infra.loopback_web.wikidata import Wikidata
from infra.loopback_web.wikipedia import Wikipedia

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

HOSTS = (
    "en.wikipedia.org",
    "zh.wikipedia.org",
    "export.arxiv.org",
    "api.crossref.org",
    *registers(enforce_pace=False),
    "api.search.brave.com",
    "api.exa.ai",
    "api.tavily.com",
    "api.x.ai",
    "searx.test",
    "html-searx.test",
    *OFFICIAL_HOSTS,
    "www.wikidata.org",
    "api.github.com",
    "api.stackexchange.com",
    "hn.algolia.com",
    "archive.org",
    "openlibrary.org",
    "crates.io",
    "developer.mozilla.org",
    "model.test",
    "api.deepseek.com",
    "datatracker.ietf.org",
    "www.rfc-editor.org",
    "services.nvd.nist.gov",
    "api.osv.dev",
    "harbour.test",
    "news.test",
    "forum.test",
    "wall.test",
    "slow.test",
    "shelf.test",
    "gbk.test",
)
_MAX_BODY_BYTES = 65_536
_SELF = {"127.0.0.1", "localhost"}


def sites(*, enforce_pace: bool) -> dict[str, Host]:
    """Return every virtual host."""
    return {
        "en.wikipedia.org": Wikipedia("en", enforce_pace=enforce_pace),
        "zh.wikipedia.org": Wikipedia("zh", enforce_pace=enforce_pace),
        "export.arxiv.org": Arxiv(enforce_pace=enforce_pace),
        "api.crossref.org": Crossref(enforce_pace=enforce_pace),
        **registers(enforce_pace=enforce_pace),
        "api.search.brave.com": Brave(enforce_pace=enforce_pace),
        "api.exa.ai": Exa(enforce_pace=enforce_pace),
        "api.tavily.com": Tavily(enforce_pace=enforce_pace),
        "api.x.ai": Grok(),
        "searx.test": Searxng(formats=frozenset({"html", "json"})),
        "html-searx.test": Searxng(),
        "www.wikidata.org": Wikidata(enforce_pace=enforce_pace),
        "api.github.com": GitHub(enforce_pace=enforce_pace),
        "api.stackexchange.com": StackExchange(enforce_pace=enforce_pace),
        "hn.algolia.com": HackerNews(enforce_pace=enforce_pace),
        "archive.org": InternetArchive(),
        "openlibrary.org": OpenLibrary(enforce_pace=enforce_pace),
        "crates.io": CratesIo(enforce_pace=enforce_pace),
        "developer.mozilla.org": Mdn(),
        "model.test": Model(),
        "api.deepseek.com": Model(),
        "datatracker.ietf.org": rfcs.datatracker,
        "www.rfc-editor.org": rfcs.editor,
        "services.nvd.nist.gov": Nvd(enforce_pace=enforce_pace),
        "api.osv.dev": vulnerabilities.osv,
        **official_sites(enforce_pace=enforce_pace),
        "harbour.test": _read_only(plain_sites.harbour),
        "news.test": _read_only(plain_sites.news),
        "forum.test": _read_only(plain_sites.forum),
        "wall.test": _read_only(plain_sites.wall),
        "slow.test": _read_only(plain_sites.slow),
        "gbk.test": _read_only(plain_sites.gbk),
        "shelf.test": Shelf(),
    }


def _read_only(site: Host) -> Host:
    return lambda ask: (
        site(ask) if ask.method in {"GET", "HEAD"} else exchange.method_not_allowed("GET", "HEAD")
    )


class App:
    """All virtual hosts in one application."""

    def __init__(
        self, clock: Clock, log: RequestLog, faults: Faults, *, enforce_pace: bool
    ) -> None:
        """Serve; `enforce_pace` makes the APIs refuse what is faster than they publish."""
        self._clock = clock
        self._log = log
        self._faults = faults
        self._sites = sites(enforce_pace=enforce_pace)
        self._active: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        host = _header(scope, b"host").rpartition("@")[2].split(":")[0].lower()
        self._active[host] += 1
        try:
            await self._answer(self._ask(scope, host, await _body(receive)), scope, send)
        finally:
            self._active[host] -= 1

    def _ask(self, scope: Scope, host: str, body: bytes) -> Ask:
        return Ask(
            host=host,
            method=scope["method"],
            path=scope["path"],
            query=scope["query_string"].decode("latin-1"),
            headers={
                name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
            },
            body=body,
            now_ms=self._clock.now_ms(),
            active=self._active[host],
        )

    async def _answer(self, ask: Ask, scope: Scope, send: Send) -> None:
        if ask.path in {"/__log", "/__faults"}:
            await _send(send, self._control(ask), ask.method)
            return
        fault = self._faults.take(ask.host)
        answer = self._site(ask)
        if fault is not None:
            answer = spoil(answer, fault, now_ms=ask.now_ms)
        await asyncio.sleep(answer.delay_s + (fault.latency_s if fault else 0.0))
        if fault is not None and fault.reset:
            self._note(ask, 0, "fault")
            await _reset(scope)
            return
        # Logged before the last byte leaves: who has the answer must find the entry.
        self._note(ask, answer.status, answer.complaint)
        await _send(send, answer, ask.method, stall_s=fault.stall_s if fault else 0.0)

    def _site(self, ask: Ask) -> Answer:
        if ask.host in _SELF:
            return exchange.text("Loopback web. Hosts:\n" + "".join(f"{name}\n" for name in HOSTS))
        site = self._sites.get(ask.host)
        if site is None:
            return exchange.text("This server does not answer for that host.\n", status=421)
        return _revalidated(ask, site(ask))

    def _control(self, ask: Ask) -> Answer:
        if ask.path == "/__log":
            return self._control_log(ask)
        if ask.method == "POST":
            return self._add_fault(ask.body)
        if ask.method == "DELETE":
            self._faults.clear()
        return exchange.json(self._faults.active())

    def _control_log(self, ask: Ask) -> Answer:
        if ask.method == "DELETE":
            self._log.clear()
        return exchange.json(self._log.entries(ask.fields.get("host", "")))

    def _add_fault(self, body: bytes) -> Answer:
        try:
            fault = msgspec.json.decode(body, type=Fault)
            "".encode(fault.charset or "utf-8")
        except (msgspec.MsgspecError, LookupError):
            return exchange.json({"error": "not a fault"}, status=400)
        self._faults.add(fault)
        return exchange.json(self._faults.active(), status=201)

    def _note(self, ask: Ask, status: int, complaint: str) -> None:
        self._log.add(
            Entry(
                t_start=ask.now_ms,
                t_end=self._clock.now_ms(),
                host=ask.host,
                method=ask.method,
                path=ask.path + (f"?{ask.query}" if ask.query else ""),
                status=status,
                user_agent=ask.headers.get("user-agent", ""),
                complaint=complaint,
            )
        )


def _header(scope: Scope, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


async def _body(receive: Receive) -> bytes:
    parts: list[bytes] = []
    while True:
        message = await receive()
        if sum(map(len, parts)) < _MAX_BODY_BYTES:
            parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


def _revalidated(ask: Ask, answer: Answer) -> Answer:
    """Add an entity tag, and answer 304 to who has the page already (RFC 9110, 13.1.2)."""
    if answer.status != 200 or ask.method not in {"GET", "HEAD"}:
        return answer
    headers = {"etag": f'"{digest(answer.body)}"', "cache-control": "max-age=600", **answer.headers}
    if ask.headers.get("if-none-match") == headers["etag"]:
        return msgspec.structs.replace(answer, status=304, body=b"", headers=headers)
    return msgspec.structs.replace(answer, headers=headers)


async def _send(send: Send, answer: Answer, method: str, *, stall_s: float = 0.0) -> None:
    headers = {**answer.headers, "content-length": str(len(answer.body))}
    if answer.status in {204, 304}:
        del headers["content-length"]
    body = b"" if method == "HEAD" else answer.body
    if stall_s and not body:
        await asyncio.sleep(stall_s)
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": raw})
    if stall_s and body:
        half = len(body) // 2
        await send({"type": "http.response.body", "body": body[:half], "more_body": True})
        await asyncio.sleep(stall_s)
        body = body[half:]
    for place in range(len(body) if answer.drip_s else 0):
        await asyncio.sleep(answer.drip_s)
        await send(
            {"type": "http.response.body", "body": body[place : place + 1], "more_body": True}
        )
    await send({"type": "http.response.body", "body": b"" if answer.drip_s else body})


async def _reset(scope: Scope) -> None:
    scope["loopback_web.reset"]()
    for _ in range(3):  # the loop tells the protocol of the loss in its next rounds
        await asyncio.sleep(0)
