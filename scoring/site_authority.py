"""How much standing the site of a hit has: a table of sites, then patterns of host names, else an ordinary page.

The table and its four steps are the search guide's. Sites count with all their subdomains, the longest name first, so
that docs.aws.amazon.com is not read as amazon.com; of a site in two steps the higher one counts.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import urlsplit

ORDINARY = 0.4

_HIGHEST = """
    github.com gitlab.com stackoverflow.com wikipedia.org arxiv.org docs.python.org docs.rs doc.rust-lang.org
    developer.mozilla.org developer.apple.com developer.android.com cloud.google.com docs.aws.amazon.com
    learn.microsoft.com react.dev vuejs.org nodejs.org go.dev kotlinlang.org typescriptlang.org swift.org
    docs.docker.com kubernetes.io rust-lang.org tc39.es www.w3.org datatracker.ietf.org peps.python.org
    crates.io pkg.go.dev
"""
_HIGH = """
    news.ycombinator.com lobste.rs stackexchange.com serverfault.com superuser.com askubuntu.com reddit.com
    dev.to css-tricks.com smashingmagazine.com web.dev blog.cloudflare.com engineering.fb.com
    netflixtechblog.com aws.amazon.com openai.com anthropic.com huggingface.co papers.nips.cc aclanthology.org
    distill.pub
"""
_FAIR = """
    medium.com towardsdatascience.com freecodecamp.org baeldung.com digitalocean.com tutorialspoint.com
    geeksforgeeks.org realpython.com hackernoon.com infoq.com thenewstack.io techcrunch.com arstechnica.com
    theverge.com wired.com 36kr.com sspai.com juejin.cn segmentfault.com cnblogs.com zhihu.com
"""
_STEPS = ((_FAIR, 0.6), (_HIGH, 0.8), (_HIGHEST, 1.0))
_TABLE = {site: score for sites, score in _STEPS for site in sites.split()}
_PATTERNS: tuple[tuple[re.Pattern[str], float, str], ...] = (
    (re.compile(r"docs\..+"), 0.9, "documentation host"),
    (re.compile(r".+\.github\.io"), 0.7, "project page"),
    (re.compile(r"blog\..+"), 0.6, "blog of an organisation"),
    (re.compile(r".+\.edu(?:\.[a-z]{2})?|.+\.ac\.[a-z]{2}"), 0.8, "educational institution"),
    (re.compile(r".+\.gov(?:\.[a-z]{2})?"), 0.8, "government site"),
)


@lru_cache(maxsize=8192)
def site_authority(url: str) -> tuple[float, str]:
    """Return the standing (0..1) of a web address's site and what it rests on; what is no web address is ordinary."""
    host = _host(url)
    if not host:
        return ORDINARY, "no web address"
    for name in _names(host):
        if name in _TABLE:
            return _TABLE[name], f"{name} is listed"
    for pattern, score, reason in _PATTERNS:
        if pattern.fullmatch(host):
            return score, reason
    return ORDINARY, "site is not listed"


def boosted(authority: float, url: str, sites: Sequence[str], amount: float) -> float:
    """Return the authority with `amount` added when a listed site or a parent of it is preferred: once, at most 1."""
    names = set(_names(_host(url)))
    preferred = {each.strip().lower().removeprefix("www.").strip(".") for each in sites}
    return min(1.0, authority + amount) if names & preferred else authority


def _host(url: str) -> str:
    try:
        parts = urlsplit(url.strip())
        host = parts.hostname or ""
    except ValueError:
        return ""
    return host.rstrip(".").lower() if parts.scheme in {"http", "https"} else ""


def _names(host: str) -> tuple[str, ...]:
    """Return a host and the names it is a subdomain of, longest first."""
    labels = host.split(".")
    return tuple(".".join(labels[at:]) for at in range(len(labels))) if host else ()
