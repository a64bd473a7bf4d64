"""robots.txt by RFC 9309: bytes in, a decision with the deciding line out. Linear in file and URL, never raises.

Ours, because measured on 4,219 real files the best library disagrees with Google's parser on 0.57 % of the probes and
the standard library on 33 %. Rules beyond the RFC are Google's: misspelt directives, a missing colon, and an allowed
`index.html` that allows its folder. Crawl-delay is read too; it and unknown lines never close a group.

Fails closed: what could not be read (5xx, network, 401, 403, 429) forbids everything until it can.
"""

import re
from typing import Literal

from msgspec import Struct

from workers.fetching.robots_pattern import matches, normal_path, normal_pattern

MAX_LINE_BYTES = 2083 * 8 - 1  # as Google's parser, whose buffer keeps one byte for its end
_SHOWN_LINE_CHARS = 200

_LINE_END = re.compile(rb"\r\n|\n|\r")
_TOKEN = re.compile(rb"[A-Za-z0-9_-]+")
_NO_COLON = re.compile(
    rb"(user-agent|user agent|allow|disallow|crawl-delay)[ \t]+(\S.*)", re.IGNORECASE
)
_DELAY = re.compile(rb"(\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})\Z")
_DIRECTIVES: dict[bytes, str] = {
    b"user-agent": "agent",
    b"useragent": "agent",
    b"user agent": "agent",
    b"allow": "allow",
    b"disallow": "disallow",
    b"dissallow": "disallow",
    b"dissalow": "disallow",
    b"disalow": "disallow",
    b"diasllow": "disallow",
    b"disallaw": "disallow",
    b"crawl-delay": "delay",
    b"sitemap": "sitemap",
    b"site-map": "sitemap",
}
ANY = "*"
ROBOTS_PATH = "/robots.txt"

State = Literal["allow_all", "rules", "unreachable", "moved"]


class Rule(Struct, frozen=True, array_like=True):
    """One allow or disallow pattern, percent-normalised, and the line it came from."""

    allow: bool
    pattern: str
    line: str


class Group(Struct, frozen=True, array_like=True):
    """One block of a file: whom it names, its rules (the most specific first), its longest Crawl-delay.

    Blocks are merged when asked for, not when read: a file that names 35,000 agents stays linear.
    """

    agents: tuple[str, ...]
    rules: tuple[Rule, ...] = ()
    crawl_delay_s: float | None = None


class Decision(Struct, frozen=True, kw_only=True):
    """Whether a URL may be fetched; `line` is the deciding line, empty when none applied."""

    allowed: bool
    line: str = ""
    crawl_delay_s: float | None = None


class Robots(Struct, frozen=True, kw_only=True):
    """A parsed file: its groups in order, its sitemaps as written."""

    groups: tuple[Group, ...] = ()
    sitemaps: tuple[str, ...] = ()

    def group(self, product: str) -> Group:
        """Return the merged groups of a product token, else those of `*`, else an empty one (RFC 9309, 2.2.1)."""
        named = self._naming(product.lower()) or self._naming(ANY)
        return named[0] if len(named) == 1 else _merged(product, named)

    def _naming(self, agent: str) -> tuple[Group, ...]:
        return tuple(each for each in self.groups if agent in each.agents)

    def check(self, product: str, url: str) -> Decision:
        """Decide for an absolute URL or a path: the longest matching pattern wins, a tie allows."""
        group = self.group(product)
        path = normal_path(url)
        rule = next((each for each in group.rules if matches(each.pattern, path)), None)
        allowed = rule is None or rule.allow or path == ROBOTS_PATH
        line = rule.line if rule else ""
        return Decision(allowed=allowed, line=line, crawl_delay_s=group.crawl_delay_s)

    def only(self, product: str) -> "Robots":
        """Return what matters to one product: a single group and the sitemaps, for a small record."""
        group = self.group(product)
        kept = Group((ANY,), group.rules, group.crawl_delay_s)
        return Robots(groups=(kept,), sitemaps=self.sitemaps)


class RobotsRecord(Struct, frozen=True, kw_only=True):
    """What is remembered of an origin (scheme://host:port). Times are epoch milliseconds.

    failures: unreachable reads in a row, so that the next one waits longer; detail: one sentence for the trace.
    A record of state "moved" is a reading not yet finished: next_url is asked next, after `hops` redirects and
    `read_bytes` of their bodies.
    """

    origin: str
    state: State
    fetched_at_ms: int
    expires_at_ms: int
    robots: Robots = Robots()
    failures: int = 0
    detail: str = ""
    next_url: str = ""
    hops: int = 0
    read_bytes: int = 0

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """Return the sitemaps the file names."""
        return self.robots.sitemaps

    def is_valid(self, now_ms: int) -> bool:
        """Say whether it may still be relied on; a reading that is not finished never."""
        return self.state != "moved" and now_ms < self.expires_at_ms

    def check(self, product: str, url: str) -> Decision:
        """Decide for a URL of this origin; an unreachable robots.txt forbids everything (RFC 9309, 2.3.1.4)."""
        if self.state in {"unreachable", "moved"}:
            return Decision(allowed=False, line=self.detail)
        return self.robots.check(product, url)


def classify(status: int) -> State:
    """Return what a final status means (RFC 9309, 2.3.1): 401, 403 and 429 are "not now", other 4xx allow all.

    A redirect that leads nowhere counts as unavailable, which allows all (2.3.1.2 and 2.3.1.3).
    """
    if 200 <= status < 300:
        return "rules"
    if status in {401, 403, 429} or not 300 <= status < 500:
        return "unreachable"
    return "allow_all"


def parse(body: bytes) -> Robots:
    """Read a file, however broken. The caller caps its size."""
    reader = _Reader()
    for line in _LINE_END.split(_without_mark(body)):
        reader.take(line)
    return reader.result()


class _Reader:
    """Collects lines into groups: agents in a row share what follows, the next agent after a rule opens a group."""

    def __init__(self) -> None:
        self._groups: list[Group] = []
        self._sitemaps: list[str] = []
        self._agents: list[str] = []
        self._rules: list[Rule] = []
        self._delay_s: float | None = None
        self._naming = True

    def take(self, line: bytes) -> None:
        key, value = _split(line[:MAX_LINE_BYTES])
        match _DIRECTIVES.get(key):
            case "agent":
                self._agent(value)
            case "allow" | "disallow" as kind:
                self._rule(value, _shown(line), allow=kind == "allow")
            case "delay":
                self._delay(value)
            case "sitemap" if value:
                self._sitemaps.append(value.decode("utf-8", "replace"))
            case _:
                pass

    def _agent(self, value: bytes) -> None:
        if not self._naming:
            self._close()
        self._naming = True
        name = _product_of(value)
        if name:
            self._agents.append(name)

    def _rule(self, value: bytes, line: str, *, allow: bool) -> None:
        self._naming = False
        if not value or not self._agents:
            return
        self._rules.append(Rule(allow, normal_pattern(value), line))
        if allow and value.endswith(b"/index.html"):
            folder = normal_pattern(value.removesuffix(b"index.html"))
            self._rules.append(Rule(allow, f"{folder}$", line))

    def _delay(self, value: bytes) -> None:
        if _DELAY.match(value):
            self._delay_s = max(float(value), self._delay_s or 0.0)

    def _close(self) -> None:
        if self._agents:
            agents = tuple(dict.fromkeys(self._agents))
            rules = tuple(sorted(self._rules, key=_precedence))
            self._groups.append(Group(agents, rules, self._delay_s))
        self._agents, self._rules, self._delay_s = [], [], None

    def result(self) -> Robots:
        self._close()
        sitemaps = tuple(dict.fromkeys(self._sitemaps))
        return Robots(groups=tuple(self._groups), sitemaps=sitemaps)


def _merged(product: str, groups: tuple[Group, ...]) -> Group:
    rules = sorted((rule for each in groups for rule in each.rules), key=_precedence)
    delays = [each.crawl_delay_s for each in groups if each.crawl_delay_s is not None]
    return Group((product,), tuple(rules), max(delays, default=None))


def _precedence(rule: Rule) -> tuple[int, bool]:
    return -len(rule.pattern), not rule.allow


def _without_mark(body: bytes) -> bytes:
    """Drop a byte order mark, also a half one; UTF-16 becomes UTF-8."""
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return body.decode("utf-16", "replace").encode("utf-8", "replace")
    for mark in (b"\xef\xbb\xbf", b"\xef\xbb", b"\xef"):
        if body.startswith(mark):
            return body[len(mark) :]
    return body


def _split(line: bytes) -> tuple[bytes, bytes]:
    text = line.split(b"#", 1)[0].strip(b" \t\x00")
    key, colon, value = text.partition(b":")
    if colon:
        return key.strip().lower(), value.strip(b" \t")
    found = _NO_COLON.match(text)
    return (found[1].lower(), found[2]) if found else (b"", b"")


def _product_of(value: bytes) -> str:
    """Return the token a User-agent line names: `FooBot/2.1` names foobot, `* ...` names everyone."""
    if value[:1] == b"*" and value[1:2] in {b"", b" ", b"\t"}:
        return ANY
    found = _TOKEN.match(value)
    return found[0].decode().lower() if found else ""


def _shown(line: bytes) -> str:
    return (
        line[: _SHOWN_LINE_CHARS * 4]
        .decode("utf-8", "replace")
        .strip(" \t\x00\ufeff")[:_SHOWN_LINE_CHARS]
    )
