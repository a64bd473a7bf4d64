"""How far a text may be trying to sell or persuade: the class of its publisher, raised by signs that are named.

The signs are weak, so their weight in the whole is small; what matters is that a reader sees them.
"""

import re
from collections.abc import Mapping

from signal_search.contracts.document import Document
from signal_search.contracts.score import Component

from scoring.credibility import UNLISTED, type_of
from scoring.identity import site_of

STEP = 0.1
_PER = 1000

_ADVERTISING = re.compile(
    r"\b(?:sponsored|advertorial|affiliate|promo code|coupon|buy now|sign up (?:now|today)|free trial|limited offer"
    r"|special offer|discount code|we may earn|order now)\b|广告|推广|赞助|优惠券|立即购买|限时"
    r"|点击购买|扫码|加微信|免费试用",
    re.IGNORECASE,
)
_SUPERLATIVE = re.compile(
    r"\b(?:best[- ]in[- ]class|world[- ]class|unbeatable|revolutionary|game[- ]chang\w+|ultimate|amazing|incredible"
    r"|unparalleled|number one|must[- ]have|guaranteed|miracle|breakthrough)\b|最好|最佳|最强"
    r"|第一品牌|颠覆|神器|史上|绝对|碾压|秒杀|震惊",
    re.IGNORECASE,
)
_SELF = re.compile(
    r"\b(?:our (?:product|platform|solution|service|customers|team)s?|contact us|book a demo|why choose us)\b"
    r"|我们的(?:产品|平台|方案|服务)|我司|联系我们",
    re.IGNORECASE,
)
# Hits per thousand characters from which a sign counts.
_SIGNS: tuple[tuple[str, re.Pattern[str], float], ...] = (
    ("advertising or affiliate wording", _ADVERTISING, 1.0),
    ("superlatives", _SUPERLATIVE, 2.0),
    ("self-promotion", _SELF, 1.0),
    ("exclamation marks", re.compile(r"[!！]"), 4.0),
)
# Only where a person is expected to answer for the text.
_SIGNED_KINDS = frozenset({"media", "vendor", "forum", "selfmedia", "unknown"})


def bias(document: Document, table: Mapping[str, float]) -> Component:
    """Return the bias (0 none, 1 all) of a document: its class's value plus .1 for each sign, at most 1."""
    kind = type_of(document)
    signs = bias_signs(document)
    value = min(1.0, table.get(kind, UNLISTED) + STEP * len(signs))
    reason = f"class of {kind} publishers" + (f"; {', '.join(signs)}" if signs else "")
    return Component(value=round(value, 4), reason=reason)


def bias_signs(document: Document) -> tuple[str, ...]:
    """Name the signs of advertising, superlatives, self-promotion and missing imprint in a document's text."""
    if not document.text:
        return ()
    per_thousand = _PER / max(len(document.text), _PER)
    found = [
        name
        for name, pattern, least in _SIGNS
        if len(pattern.findall(document.text)) * per_thousand >= least
    ]
    return (*found, *_about_itself(document), *_imprint(document))


def _about_itself(document: Document) -> tuple[str, ...]:
    brand = site_of(document.url).partition(".")[0]
    speaks = type_of(document) == "vendor" and len(brand) > 2 and brand in document.title.lower()
    return ("a vendor on its own product",) if speaks else ()


def _imprint(document: Document) -> tuple[str, ...]:
    if document.record or type_of(document) not in _SIGNED_KINDS:
        return ()
    missing = [
        name
        for name, held in (("author", document.authors), ("date", document.published))
        if not held
    ]
    return (f"no {' or '.join(missing)}",) if len(missing) == 2 else ()
