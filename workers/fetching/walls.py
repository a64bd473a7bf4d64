"""Pages that stand before the content: log in, pay, prove you are human. Scored signals, each with its reason.

No signal is trusted alone that real pages show beside their full text: a password field is mostly a header's login box,
a `paywall` class is found on full articles. A wall is skipped with its reasons; a challenge is never answered.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec
from msgspec import Struct
from signal_search.contracts.source import SkipReason

WallKind = Literal["login_wall", "pay_wall", "challenge"]

_ENOUGH = 1.0
_SHORT_WORDS = 120
_TINY_WORDS = 60
_END_CHARS = 800
_MAX_HTML_CHARS = 600_000
_MAX_JSON_DEPTH = 12
_LD_JSON = re.compile(
    r"<script[^>]{0,200}application/ld\+json[^>]{0,200}>(.{1,200000}?)</script",
    re.IGNORECASE | re.DOTALL,
)
_PASSWORD = re.compile(r"<input\b[^>]{0,500}\btype\s*=\s*[\"']?password", re.IGNORECASE)
_META_REFRESH = re.compile(
    r"<meta\b[^>]{0,200}http-equiv\s*=\s*[\"']?refresh[^>]{0,100}url\s*=\s*[\"']?([^\"'>\s]{1,2000})",
    re.IGNORECASE,
)
_TIER = re.compile(
    r"<meta\b[^>]{0,200}(?:article:content_tier|content_tier)[^>]{0,200}content\s*=\s*[\"'](\w{1,20})",
    re.IGNORECASE,
)
_MICRODATA = re.compile(
    r"itemprop\s*=\s*[\"']isAccessibleForFree[\"'][^>]{0,200}content\s*=\s*[\"'](\w{1,100}|https?://\S{1,80})",
    re.IGNORECASE,
)
_PAY_CLASS = re.compile(r"(?:class|id)\s*=\s*[\"'][^\"']{0,200}pay-?wall", re.IGNORECASE)
_PAY_SERVICE = re.compile(
    r"tinypass\.com|piano\.io|amp-subscriptions|swg-basic|news\.google\.com/swg", re.IGNORECASE
)
_LOGIN_PATH = re.compile(
    r"(?:^|[/.])(?:log-?in|sign-?in|signon|sso|auth|oauth2?|passport|account|accounts|subscribe|consent|register)"
    r"(?:[/.?]|$)",
    re.IGNORECASE,
)
_RETURN_PARAMETER = re.compile(
    r"[?&](?:return|return_?to|return_?url|redirect|redirect_?ur[il]|next|continue|dest|destination|target|url|goto|from"
    r"|service|backurl|ru|r)=",
    re.IGNORECASE,
)
_LOGIN_WORDS = re.compile(
    r"(?:log|sign) in to (?:continue|read|view|see|access|your account)|please (?:log|sign) in|login required"
    r"|you must be logged in"
    r"|登录后(?:查看|阅读|继续|可见)|请先登录|请登录|登入後"
    r"|connectez-vous pour|bitte (?:melden sie sich|einloggen)"
    r"|inicia sesión para|ログインして|ログインが必要|로그인이 필요",
    re.IGNORECASE,
)
_PAY_WORDS = re.compile(
    r"subscribe to (?:continue|read|unlock|keep)|subscribers? only|already a subscriber|to continue reading"
    r"|subscription (?:is )?required|become a (?:member|subscriber) to"
    r"|付费阅读|付费后|开通会员|购买后阅读|订阅后|会员专享|剩余.{0,12}付费"
    r"|réservé aux abonnés|il vous reste .{0,20}à lire"
    r"|nur für abonnenten|weiterlesen mit|suscríbete para|solo para suscriptores"
    r"|会員限定|有料会員|残り\d",
    re.IGNORECASE,
)
_CHALLENGE_TITLE = re.compile(
    r"^\s*(?:just a moment|attention required|security check|verify(?:ing)? you are (?:a )?human"
    r"|are you a (?:robot|human)"
    r"|access denied|ddos-guard|百度安全验证|安全验证|人机验证"
    r"|checking your browser|one more step|robot check|captcha)",
    re.IGNORECASE,
)
_CHALLENGE_MARK = re.compile(
    r"cf-chl-|cdn-cgi/challenge-platform|cf_chl_opt|g-recaptcha|recaptcha/api|h-captcha|hcaptcha\.com|cf-turnstile"
    r"|geo\.captcha-delivery|px-captcha|awswafcaptcha|_incapsula_resource|tcaptcha|geetest|captcha",
    re.IGNORECASE,
)
_CHALLENGE_WORDS = re.compile(
    r"enable javascript and cookies to continue|verify(?:ing)? (?:that )?you are (?:a )?human|unusual traffic"
    r"|prove (?:that )?you(?: are|'re) not a robot|complete the security check"
    r"|请完成(?:安全)?验证|拖动滑块|人机验证|滑动验证",
    re.IGNORECASE,
)
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


class Page(Struct, frozen=True, kw_only=True):
    """A page as the signals see it; `text` is its main text, empty before extraction."""

    url: str
    status: int
    headers: Mapping[str, str]
    html: str = ""
    title: str = ""
    text: str = ""


class Wall(Struct, frozen=True, kw_only=True):
    """What stands before the content, and why we think so."""

    kind: WallKind
    score: float
    reasons: tuple[str, ...]

    @property
    def skip_reason(self) -> SkipReason:
        """Return the reason as the job sees it."""
        return SkipReason(self.kind)

    @property
    def detail(self) -> str:
        """Return one sentence for the trace."""
        return f"{self.kind}: {', '.join(self.reasons)}"


Signal = tuple[str, float]


def find_wall(page: Page) -> Wall | None:
    """Return the wall a page is, None when its content is there: challenge first, then login, then pay."""
    cut = msgspec.structs.replace(page, html=page.html[:_MAX_HTML_CHARS])
    words = word_count(cut.text)
    signals: tuple[tuple[WallKind, list[Signal]], ...] = (
        ("challenge", list(_challenge(cut, words))),
        ("login_wall", list(_login(cut, words))),
        ("pay_wall", list(_pay(cut, words))),
    )
    for kind, found in signals:
        score = round(sum(weight for _, weight in found), 2)
        if score >= _ENOUGH:
            return Wall(kind=kind, score=score, reasons=tuple(name for name, _ in found))
    return None


def is_login_address(url: str) -> bool:
    """Say whether an address is a login or consent page that would send the reader back afterwards."""
    path, _, query = url.split("://", 1)[-1].partition("?")
    return bool(_LOGIN_PATH.search(path) and _RETURN_PARAMETER.search(f"?{query}"))


def word_count(text: str) -> int:
    """Count words; two CJK characters count as one."""
    cjk = len(_CJK.findall(text))
    return len(_CJK.sub(" ", text).split()) + cjk // 2


def _challenge(page: Page, words: int) -> Iterator[Signal]:
    if page.headers.get("cf-mitigated", "").lower() == "challenge":
        yield "cf-mitigated header", _ENOUGH
    tiny = words < _TINY_WORDS
    marked = tiny and _CHALLENGE_MARK.search(page.html) is not None
    if marked:
        yield "challenge script", 0.6
    if tiny and _CHALLENGE_TITLE.search(page.title):
        yield "challenge title", 0.6
    if tiny and _CHALLENGE_WORDS.search(page.text or page.html):
        yield "challenge wording", 0.6
    if page.status in {403, 429, 503} and marked:
        yield f"status {page.status}", 0.5


def _login(page: Page, words: int) -> Iterator[Signal]:
    short = words < _SHORT_WORDS
    refresh = _META_REFRESH.search(page.html)
    if refresh and _LOGIN_PATH.search(refresh[1]):
        yield "refresh to a login page", _ENOUGH
    if short and _PASSWORD.search(page.html):
        yield "password form on a page of few words", _ENOUGH
    if short and _LOGIN_WORDS.search(page.text[-_END_CHARS:]):
        yield "login wording near the end", 0.7
        if is_login_address(page.url) or "login" in page.html.lower():
            yield "login form or address", 0.3


def _pay(page: Page, words: int) -> Iterator[Signal]:
    free, declared = _declared_access(page.html)
    if free:
        return
    if declared:
        yield declared, _ENOUGH
    short = words < 2 * _SHORT_WORDS
    if short and _PAY_WORDS.search(page.text[-_END_CHARS:]):
        yield "subscription wording near the end", 0.7
    if short and _PAY_CLASS.search(page.html):
        yield "paywall element", 0.4
    if short and _PAY_SERVICE.search(page.html):
        yield "subscription service", 0.3


def _declared_access(html: str) -> tuple[bool, str]:
    """Return whether the page says it is free, else what it says to the contrary ("" if it says nothing)."""
    tier = _TIER.search(html)
    named = tier[1].lower() if tier else ""
    said = [*_accessible_values(html), *(each[1] for each in _MICRODATA.finditer(html))]
    meanings = {_truth(each) for each in said}
    if named == "free" or meanings == {True}:
        return True, ""
    if False in meanings:
        return False, "isAccessibleForFree is false"
    return False, "content tier is locked" if named == "locked" else ""


def _truth(value: object) -> bool | None:
    """Read true, "False", "http://schema.org/False" and the like."""
    word = str(value).rsplit("/", 1)[-1].strip().lower()
    return {"true": True, "yes": True, "false": False, "no": False}.get(word)


def _accessible_values(html: str) -> Iterator[object]:
    for found in _LD_JSON.finditer(html):
        try:
            tree = msgspec.json.decode(found[1].strip())
        except (msgspec.DecodeError, RecursionError):  # nested too deeply to mean anything
            continue
        yield from _values_of(tree, "isAccessibleForFree", _MAX_JSON_DEPTH)


def _values_of(node: object, name: str, depth: int) -> Iterator[object]:
    if depth == 0:
        return
    children: list[object] = node if isinstance(node, list) else []
    if isinstance(node, dict):
        if name in node:
            yield node[name]
        children = list(node.values())
    for child in children:
        yield from _values_of(child, name, depth - 1)
