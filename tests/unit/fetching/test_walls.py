"""Pages before the content: which signals suffice, and which do not beside a full text."""

import pytest

from workers.fetching.walls import Page, find_wall, is_login_address, word_count

LONG = "The committee published its findings after a long and careful review of the evidence. " * 30
LD = '<script type="application/ld+json">%s</script>'
FALSE = '{"isAccessibleForFree": %s}'


def wall(html: str = "", text: str = LONG, **fields: object) -> str:
    page = Page(url="https://n.test/a", status=200, headers={}, html=html, text=text)
    changed = Page(**{name: getattr(page, name) for name in Page.__struct_fields__} | fields)
    found = find_wall(changed)
    return found.kind if found else ""


@pytest.mark.parametrize("value", ["false", '"False"', '"http://schema.org/False"', '"no"'])
def test_subscriber_content_is_skipped_whatever_its_length(value: str) -> None:
    assert wall(LD % (FALSE % value)) == "pay_wall"


@pytest.mark.parametrize(
    "json",
    [
        '[{"@type": "X"}, {"isAccessibleForFree": false}]',
        '{"@graph": [{"isAccessibleForFree": "false"}]}',
        '{"hasPart": {"isAccessibleForFree": false, "cssSelector": ".p"}}',
    ],
)
def test_json_ld_in_its_shapes(json: str) -> None:
    assert wall(LD % json) == "pay_wall"


@pytest.mark.parametrize(
    "html",
    [
        LD % (FALSE % "true"),
        LD % (FALSE % '"True"'),
        LD % "{broken",
        LD % ("[" * 5000),
        '<meta property="article:content_tier" content="free">',
        '<meta property="article:content_tier" content="metered">',
        '<div class="paywall-teaser">',
        '<script src="https://cdn.tinypass.com/x.js">',
        '<form><input type="password"></form>',
        '<div class="g-recaptcha"></div>',
        '<meta name="robots" content="noarchive">',
    ],
)
def test_weak_signals_beside_a_full_text_are_no_wall(html: str) -> None:
    assert wall(html) == ""


def test_locked_tier() -> None:
    assert wall('<meta property="article:content_tier" content="locked">') == "pay_wall"


@pytest.mark.parametrize(
    "text",
    [
        "The first lines. Subscribe to continue reading.",
        "开头几句。 开通会员后可阅读全文",
        "冒頭。この記事は会員限定です。",
    ],
)
def test_short_text_with_subscription_wording(text: str) -> None:
    assert wall('<div id="paywall">', text) == "pay_wall"
    assert wall("", text) == ""


def test_free_overrides_weak_signals() -> None:
    html = LD % (FALSE % "true") + '<div class="paywall">'
    assert wall(html, "A short note. Already a subscriber? Log on.") == ""


@pytest.mark.parametrize("text", ["Welcome back", "登录后查看全部内容"])
def test_password_form_on_a_page_of_few_words(text: str) -> None:
    assert wall('<form><INPUT name=p type="password"></form>', text) == "login_wall"


@pytest.mark.parametrize(
    "text", ["Please log in to view this page.", "请先登录", "Bitte melden Sie sich an."]
)
def test_login_wording(text: str) -> None:
    assert wall('<a class="login">', text) == "login_wall"


def test_refresh_to_login() -> None:
    html = '<meta http-equiv="refresh" content="0; url=/account/login?next=/a">'
    assert wall(html, "") == "login_wall"
    assert wall('<meta http-equiv="refresh" content="0; url=/new-home">', "") == ""


@pytest.mark.parametrize(
    "fields",
    [
        {"headers": {"cf-mitigated": "challenge"}},
        {
            "title": "Just a moment...",
            "text": "",
            "html": '<script src="/cdn-cgi/challenge-platform/x">',
        },
        {"title": "百度安全验证", "text": "请完成验证"},
        {"status": 403, "text": "", "html": '<div class="h-captcha">'},
    ],
)
def test_challenges(fields: dict[str, object]) -> None:
    assert wall(**fields) == "challenge"  # type: ignore[arg-type]


def test_reasons_are_told() -> None:
    found = find_wall(
        Page(url="u", status=200, headers={}, html="<input type=password>", text="hi")
    )
    assert found is not None
    assert found.detail == "login_wall: password form on a page of few words"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.test/login?next=%2Fx", True),
        ("https://sso.a.test/start?return_to=x", True),
        ("https://passport.a.test/?service=x", True),
        ("https://a.test/signin", False),
        ("https://a.test/blog/author?from=x", False),
        ("https://a.test/loginovations?next=1", False),
    ],
)
def test_login_addresses(url: str, expected: bool) -> None:
    assert is_login_address(url) == expected


def test_two_cjk_characters_are_a_word() -> None:
    assert word_count("three little words 四个汉字") == 5
