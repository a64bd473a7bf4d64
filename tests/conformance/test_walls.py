"""Walls: whole pages through the whole reading, each skipped with its reason or kept. Pages written for this project."""

import pytest
from signal_search.contracts.source import FetchState

from tests.fakes.fetching import a_reply, a_request
from tests.fakes.pages import PARAGRAPHS
from workers.fetching.parsing import extract
from workers.fetching.walls import is_login_address

FULL = "".join(f"<p>{each}</p>" for each in PARAGRAPHS * 2)
TEASER = f"<p>{PARAGRAPHS[0]}</p>"
CHINESE_TEASER = "<p>河务局星期二公布了年度报告，旧桥处的水位上升了四十厘米。</p>"
FORM = '<form action="/login"><input name="u"><input type="password" name="p"></form>'
LD = '<script type="application/ld+json">{}</script>'


def page(body: str, head: str = "", title: str = "River level rose") -> str:
    return f"<!DOCTYPE html><html><head><title>{title}</title>{head}</head><body><article>{body}</article></body></html>"


PAY_WALLS = {
    "json-ld false": page(FULL, LD.format('{"@type":"NewsArticle","isAccessibleForFree":false}')),
    "json-ld text": page(FULL, LD.format('{"isAccessibleForFree":"False"}')),
    "json-ld schema.org": page(
        FULL, LD.format('{"isAccessibleForFree":"http://schema.org/False"}')
    ),
    "json-ld list": page(FULL, LD.format('[{"@type":"WebSite"},{"isAccessibleForFree":false}]')),
    "json-ld graph": page(FULL, LD.format('{"@graph":[{"isAccessibleForFree":"false"}]}')),
    "json-ld part": page(
        FULL, LD.format('{"hasPart":{"isAccessibleForFree":false,"cssSelector":".x"}}')
    ),
    "second script": page(
        FULL, LD.format('{"@type":"Thing"}') + LD.format('{"isAccessibleForFree":false}')
    ),
    "microdata": page(FULL, '<meta itemprop="isAccessibleForFree" content="false">'),
    "locked tier": page(FULL, '<meta property="article:content_tier" content="locked">'),
    "english": page(TEASER + '<div class="paywall"><p>Subscribe to continue reading.</p></div>'),
    "member": page(
        TEASER + '<div id="paywall-box"><p>Already a subscriber? Then read on.</p></div>'
    ),
    "german": page(
        TEASER + '<div class="paywall"><p>Diesen Artikel gibt es nur für Abonnenten.</p></div>'
    ),
    "french": page(
        TEASER + '<div class="paywall"><p>Cet article est réservé aux abonnés.</p></div>'
    ),
    "spanish": page(TEASER + '<div class="paywall"><p>Contenido solo para suscriptores.</p></div>'),
    "chinese": page(CHINESE_TEASER + '<div class="paywall"><p>剩余内容需付费阅读。</p></div>'),
    "japanese": page(
        "<p>水位が上がった。</p>" + '<div class="paywall"><p>この記事は会員限定です。</p></div>'
    ),
}
LOGIN_WALLS = {
    "form alone": page(f"<h1>Welcome back</h1>{FORM}"),
    "form and teaser": page(TEASER + FORM),
    "refresh": page(
        "<p>One moment.</p>", '<meta http-equiv="refresh" content="0; url=/sso/start?return=/a">'
    ),
    "english": page('<p>Please log in to view this page.</p><a href="/login">Log in</a>'),
    "chinese": page(CHINESE_TEASER + '<p>请先登录</p><a href="/login">登录</a>'),
    "german": page('<p>Bitte melden Sie sich an.</p><a class="login" href="/x">Konto</a>'),
    "japanese": page(
        '<p>続きはログインしてお読みください。</p><a class="login" href="/x">会員</a>'
    ),
}
CHALLENGES = {
    "interstitial": page(
        "<p>Enable JavaScript and cookies to continue</p>",
        '<script src="/cdn-cgi/challenge-platform/h.js"></script>',
        "Just a moment...",
    ),
    "recaptcha": page(
        '<div class="g-recaptcha"></div><p>Verify you are human.</p>', title="Security check"
    ),
    "hcaptcha": page(
        '<div class="h-captcha"></div><p>Prove you are not a robot.</p>', title="One more step"
    ),
    "turnstile": page('<div class="cf-turnstile"></div><p>Please complete the security check.</p>'),
    "chinese": page('<div id="tcaptcha"></div><p>请完成安全验证，拖动滑块。</p>', title="安全验证"),
    "unusual traffic": page(
        '<form id="captcha-form"></form><p>We saw unusual traffic from you.</p>'
    ),
}
# What real pages show beside their full text.
KEPT = {
    "free": page(FULL, LD.format('{"isAccessibleForFree":true}')),
    "free text": page(FULL, LD.format('{"isAccessibleForFree":"http://schema.org/True"}')),
    "free overrides": page(
        TEASER + '<div class="paywall"><p>Subscribe to continue reading.</p></div>',
        LD.format('{"isAccessibleForFree":true}'),
    ),
    "metered": page(FULL, '<meta property="article:content_tier" content="metered">'),
    "header log-in": page(f"{FORM}{FULL}"),
    "paywall class": page(f'<div class="paywall-teaser">{FULL}</div>'),
    "subscription service": page(FULL, '<script src="https://cdn.tinypass.com/api.js"></script>'),
    "subscribe to the newsletter": page(f"{FULL}<p>Subscribe to our newsletter.</p>"),
    "comment captcha": page(f'{FULL}<div class="g-recaptcha"></div>'),
    "noarchive of others": page(FULL, '<meta name="otherbot" content="noarchive">'),
    "about captchas": page(
        f"<p>A captcha asks readers to verify that they are human.</p>{FULL}", title="Captchas"
    ),
    "about log-ins": page(f"<p>Please log in to continue is what many pages say.</p>{FULL}"),
    "broken json-ld": page(FULL, LD.format('{"isAccessibleForFree": fal')),
    "refresh elsewhere": page(FULL, '<meta http-equiv="refresh" content="300; url=/news">'),
}


def reason(html: str, status: int = 200, **headers: str) -> str:
    outcome = extract(
        a_request("https://site.test/a"), a_reply(html.encode(), status=status, **headers)
    )
    assert (outcome.state == FetchState.FETCHED) == (outcome.reason == "")
    assert outcome.detail or not outcome.reason
    return outcome.reason


@pytest.mark.parametrize("name", PAY_WALLS)
def test_pay_walls(name: str) -> None:
    assert reason(PAY_WALLS[name]) == "pay_wall"


@pytest.mark.parametrize("name", LOGIN_WALLS)
def test_login_walls(name: str) -> None:
    assert reason(LOGIN_WALLS[name]) == "login_wall"


@pytest.mark.parametrize("name", CHALLENGES)
def test_challenges(name: str) -> None:
    assert reason(CHALLENGES[name]) == "challenge"
    assert reason(CHALLENGES[name], 503) == "challenge"


@pytest.mark.parametrize("name", KEPT)
def test_kept(name: str) -> None:
    assert reason(KEPT[name]) == ""


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        (401, {"www_authenticate": "Basic"}, "login_wall"),
        (407, {}, "login_wall"),
        (402, {}, "pay_wall"),
        (403, {}, "source_denied"),
        (451, {}, "source_denied"),
        (403, {"cf_mitigated": "challenge"}, "challenge"),
        (403, {"x_ratelimit_remaining": "0"}, "source_rate_limited"),
        (429, {}, "source_rate_limited"),
        (503, {}, "source_server_fault"),
        (404, {}, "source_not_found"),
        (410, {}, "source_not_found"),
        (500, {}, "source_server_fault"),
        (400, {}, "source_bad_reply"),
        (204, {}, "empty"),
    ],
)
def test_what_a_status_means(status: int, headers: dict[str, str], expected: str) -> None:
    assert reason(page(FULL), status, **headers) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.test/login?next=%2Fx", True),
        ("https://a.test/user/sign-in?return_to=x", True),
        ("https://login.a.test/?continue=x", True),
        ("https://sso.a.test/start?service=x", True),
        ("https://passport.a.test/?backurl=x", True),
        ("https://a.test/oauth2/authorize?redirect_uri=x", True),
        ("https://a.test/consent?from=x", True),
        ("https://accounts.a.test/v3?continue=x", True),
        ("https://a.test/subscribe?redirect=x", True),
        ("https://a.test/login", False),
        ("https://a.test/blog/login-forms", False),
        ("https://a.test/authors?from=x", False),
        ("https://a.test/news?next=2", False),
    ],
)
def test_redirects_to_a_log_in(url: str, expected: bool) -> None:
    assert is_login_address(url) is expected
