"""What is redacted, what must survive, and that doing it twice changes nothing. Values are public test numbers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.fetching.redaction import carries_secret, redact, redact_url


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("write to a.b+c@example.co.uk today", "write to [EMAIL#1] today"),
        ("邮箱zhang@qq.com，手机13812345678", "邮箱[EMAIL#1]，手机[PHONE#1]"),
        ("a@x.org, b@x.org, A@X.org", "[EMAIL#1], [EMAIL#2], [EMAIL#1]"),
        ("电话 010-62345678 或 +86 138 1234 5678", "电话 [PHONE#1] 或 [PHONE#2]"),
        ("身份证11010519491231002X", "身份证[CN_ID#1]"),
        ("card 4111 1111 1111 1111 / 4111111111111111", "card [CARD#1] / [CARD#1]"),
        ("card 5500-0000-0000-0004, amex 378282246310005", "card [CARD#1], amex [CARD#2]"),
        ("IBAN DE89 3704 0044 0532 0130 00 and more", "IBAN [IBAN#1] and more"),
        ("gb82west12345698765432 next", "[IBAN#1] next"),
        ("SSN 078-05-1120.", "SSN [SSN#1]."),
        ("from 8.8.8.8 and 2001:4860:4860::8888", "from [IP#1] and [IP#2]"),
        ("the server 93.184.216.34 answered", "the server [IP#1] answered"),
        ("call +1 650-253-0000", "call [PHONE#1]"),
        ("Tel: (650) 253-0000", "Tel: [PHONE#1]"),
        ("key AKIAIOSFODNN7EXAMPLE leaked", "key [SECRET#1] leaked"),
        ("token ghp_" + "a1" * 18, "token [SECRET#1]"),
        (
            "see http://h.test/?access_token=abcd1234&x=1",
            "see http://h.test/?access_token=[SECRET#1]&x=1",
        ),
        ("ftp://joe:hunter22@h.test/f", "ftp://[SECRET#1]@h.test/f"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nok",
            "[SECRET#1]\nok",
        ),
    ],
)
def test_redacted(text: str, expected: str) -> None:
    assert redact(text) == expected


SURVIVORS = [
    "doi:10.1103/PhysRevLett.116.061102",
    "https://doi.org/10.1002/(SICI)1097-4571(199806)49:8%3C693::AID-ASI4%3E3.0.CO;2-O",
    "10.1000/138-1234-5678",
    "arXiv:2301.12345v2 and arXiv:hep-th/9901001",
    "ISBN 978-3-16-148410-0, ISBN-10 0-306-40615-2, 9783161484100",
    "https://orcid.org/0000-0002-1825-0097",
    "CVE-2021-44228",
    "PMID: 31452104, PMC6746139",
    "ISSN 2049-3630",
    "Chrome/119.0.6045.105, version 2.3.1.4, Python 3.11.7",
    "RFC 9309, 2.3.1.4 and § 1.2.3.4",
    "192.0.2.1, 10.0.0.1, 127.0.0.1 and 192.168.1.1",
    "2023-11-05T10:22:33.123Z, 12:34:56, std::vector, a::b",
    "won 101-98, 3.14159265358979, 1,234,567,890 people, 1234567890123",
    "born 1949-12-31, id 110105194912310021",  # wrong check digit
    "4111 1111 1111 1112",  # wrong check digit
    "git commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "@user on the platform, me@localhost",
    "GSE12345 NCT01234567 ENSG00000139618 rs1801133",
    "£1,000,000 — 20 000 000 km",
]


@pytest.mark.parametrize("text", SURVIVORS)
def test_survives(text: str) -> None:
    assert redact(text) == text


def test_numbers_go_on_after_those_of_an_earlier_pass() -> None:
    assert redact("[EMAIL#3] wrote to x@y.org") == "[EMAIL#3] wrote to [EMAIL#4]"


PIECES = st.sampled_from(
    [
        "a@b.org",
        "13812345678",
        "4111111111111111",
        "8.8.8.8",
        "Tel: ",
        "+1 650-253-0000",
        " ",
        "",
        "DE89",
        "370400440532013000",
        "078-05-1120",
        "://u:pw@h",
        "?token=abcdef",
        "10.1000/x",
        "[EMAIL#1]",
        "手机",
        "-",
        ".",
    ]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=5)), max_size=12).map("".join))
@settings(deadline=None)
def test_idempotent(text: str) -> None:
    once = redact(text)
    assert redact(once) == once
    assert redact_url(redact_url(text)) == redact_url(text)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://joe:pw@h.test/a", "https://h.test/a"),
        ("https://h.test/?q=1&api_key=abcd1234#x", "https://h.test/?q=1&api_key=REDACTED#x"),
        (
            "https://h.test/?X-Amz-Signature=00ff00ff&n=1",
            "https://h.test/?X-Amz-Signature=REDACTED&n=1",
        ),
        ("https://h.test/u?mail=joe%40example.com", "https://h.test/u?mail=REDACTED"),
        ("https://h.test/ghp_" + "a1" * 18, "https://h.test/REDACTED"),
    ],
)
def test_url_secrets(url: str, expected: str) -> None:
    assert redact_url(url) == expected
    assert carries_secret(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://h.test/a?id=4111111111111111&v=2&page=3",
        "https://medium.com/@user/story-13812345678",
        "https://doi.org/10.1000/138-1234-5678",
        "https://h.test/tokens?tokenizer=bpe",
    ],
)
def test_plain_urls_stay(url: str) -> None:
    assert not carries_secret(url)
