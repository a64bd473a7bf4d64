"""Personal data: every kind is taken out in every notation, and no identifier of science or technology is touched.

Numbers are published test numbers or were made up with a valid checksum for this file; secrets are shapes, not keys.
Names and postal addresses are out of scope without a model.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.fetching.redaction import redact, redact_url

CARDS = (
    "4111111111111111", "4012888888881881", "4222222222222", "5555555555554444", "5105105105105100",
    "2223003122003222", "378282246310005", "371449635398431", "6011111111111117", "6011000990139424",
    "3530111333300000", "30569309025904", "38520000023237", "6200000000000005",
    "4111 1111 1111 1111", "4111-1111-1111-1111", "3782 822463 10005",
)  # fmt: skip
MAILS = (
    "a@b.co", "first.last@sub.example.org", "x_y+tag@example.co.uk", "o'neil@example.com", "1234@qq.com",
    "UPPER@EXAMPLE.COM", "a-b@xn--mnchen-3ya.example",
)  # fmt: skip
IBANS = (
    "DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432", "FR1420041010050500013M02606",
    "NL91ABNA0417164300", "CH9300762011623852957", "ES9121000418450200051332", "AT611904300234573201",
)  # fmt: skip
CHINESE_IDS = ("11010519491231002X", "440524188001010014", "110105194912310021"[:17] + "X")
PHONES = (
    "+1 650-253-0000", "+44 20 7946 0018", "+49 30 901820", "+86 138 1234 5678", "+81 3-1234-5678", "+33 1 42 68 53 00",
)  # fmt: skip
CHINESE_PHONES = (
    "13812345678",
    "138-1234-5678",
    "138 1234 5678",
    "15912345678",
    "19912345678",
    "17712345678",
)
SSNS = ("078-05-1120", "219-09-9999")
ADDRESSES = ("8.8.8.8", "1.1.1.1", "93.184.216.34", "2001:4860:4860::8888", "2606:4700:4700::1111")
SECRETS = (
    "AKIAIOSFODNN7EXAMPLE", "ghp_" + "a1B2" * 9, "github_pat_" + "A1" * 11 + "_" + "b2" * 29 + "c",
    "glpat-" + "a1B2c" * 4, "xoxb-123456789012-123456789012-" + "a1B2c3D4" * 3, "sk-ant-api03-" + "a1B2" * 20,
    "sk-proj-" + "a1B2c3" * 8, "AIza" + "Sy" + "a1B2c" * 6 + "xyz", "npm_" + "a1B2c3" * 6, "hf_" + "abCD" * 9,
    "sk_live_" + "a1B2c3" * 4, "SG." + "a1B2" * 5 + "cd." + "a1B2" * 10 + "efg",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----",
)  # fmt: skip
KINDS = {
    "CARD": CARDS,
    "EMAIL": MAILS,
    "IBAN": IBANS,
    "PHONE": PHONES,
    "SSN": SSNS,
    "IP": ADDRESSES,
    "SECRET": SECRETS,
}
FRAMES = ("{}", "It was {}.", "({})", "<{}>", "他的是{}，请记下", "a: {}\nb: c", '"{}"')

# Each must stay exactly as it is, in every frame.
SURVIVORS = (
    "10.1103/PhysRevLett.116.061102", "doi:10.1000/138-1234-5678", "10.1002/(SICI)1097-4571(199806)49:8<693::AID-ASI4>3.0.CO;2-O",
    "https://doi.org/10.1016/0378-4371(82)90005-1", "10.5555/4111111111111111", "10.48550/arXiv.2401.12345",
    "arXiv:2301.12345v2", "arXiv:hep-th/9901001", "https://arxiv.org/abs/2401.12345",
    "ISBN 978-3-16-148410-0", "ISBN 9783161484100", "ISBN-10 0-306-40615-2", "ISBN: 080442957X",
    "https://orcid.org/0000-0002-1825-0097", "ORCID 0000-0001-5109-3700", "0000-0002-1694-233X",
    "CVE-2021-44228", "CVE-2014-0160", "CWE-79", "GHSA-jfh8-c2jp-5v3q", "RFC 9309", "ISO 8601-1:2019",
    "PMID: 31452104", "PMC6746139", "ISSN 2049-3630", "NCT01234567", "GSE12345", "ENSG00000139618", "rs1801133",
    "version 2.3.1.4", "Chrome/119.0.6045.105", "Python 3.11.7", "Linux 6.1.0.13", "§ 1.2.3.4", "Fig. 2.3.1.4",
    "192.0.2.1", "10.0.0.1", "127.0.0.1", "192.168.1.1", "::1", "fe80::1", "std::vector", "a::b",
    "2023-11-05T10:22:33.123Z", "12:34:56", "1949-12-31", "3.14159265358979", "1,234,567,890", "20 000 000 km",
    "9fceb02d0ae598e95dc970b74767f19372d61af8", "550e8400-e29b-41d4-a716-446655440000", "won 101-98", "1914-1918",
)  # fmt: skip


def _cases() -> list[tuple[str, str, str]]:
    return [
        (kind, value, frame)
        for kind, values in KINDS.items()
        for value in values
        for frame in FRAMES
    ]


@pytest.mark.parametrize(("kind", "value", "frame"), _cases())
def test_every_kind_in_every_frame(kind: str, value: str, frame: str) -> None:
    text = redact(frame.format(value))
    assert text == frame.format(f"[{kind}#1]")
    assert redact(text) == text


@pytest.mark.parametrize("value", CHINESE_PHONES)
@pytest.mark.parametrize("frame", ["手机{}", "电话：{}，请拨打", "联系人张三 {} 北京"])
def test_chinese_phones_stand_next_to_characters(value: str, frame: str) -> None:
    assert redact(frame.format(value)) == frame.format("[PHONE#1]")


@pytest.mark.parametrize("value", CHINESE_IDS[:2])
@pytest.mark.parametrize("frame", ["身份证{}", "身份证号：{}。", "ID {}"])
def test_chinese_identity_numbers(value: str, frame: str) -> None:
    assert redact(frame.format(value)) == frame.format("[CN_ID#1]")


@pytest.mark.parametrize("value", SURVIVORS)
@pytest.mark.parametrize("frame", FRAMES)
def test_identifiers_survive(value: str, frame: str) -> None:
    assert redact(frame.format(value)) == frame.format(value)


@pytest.mark.parametrize(
    "value",
    [
        "4111111111111112",
        "378282246310006",
        "DE89370400440532013001",
        "11010519491231002Y",
        "000-12-3456",
        "999.1.1.1",
    ],
)
def test_what_only_looks_like_it_stays(value: str) -> None:
    assert redact(f"It was {value} then.") == f"It was {value} then."


# Beside words that announce a telephone, and inside longer strings of letters and digits.
STAY = (
    "Grant number 61872345", "ISBN number 0306406152", "PMID number 31452104", "Patent number 10123456", "arXiv number 2401.12345",
    "Case number 2021-123456", "Hotel 12345678", "It will reach 9 700 000 000", "Stem cell 10023456", "version number 1.2.3.4",
    "sha1 4af13812345678cdef0123456789abcdef01234567", "work W13812345678", "git@github.com:org/repo.git",
    "git clone git@gitlab.example.com:team/sub/repo",
)  # fmt: skip
# What follows an identifier without a blank, or is followed by a colon, is not a part of it.
GO = (
    ("doi:10.1000/xyz，联系电话13812345678", "doi:10.1000/xyz，联系电话[PHONE#1]"),
    ("见10.1000/xyz。手机：138 1234 5678", "见10.1000/xyz。手机：[PHONE#1]"),
    ("From bob@example.com: hello", "From [EMAIL#1]: hello"),
    ("bob@example.com:call me", "[EMAIL#1]:call me"),
    ("Number: (650) 253-0000", "Number: [PHONE#1]"),
    ("phone number: 650 253 0000", "phone number: [PHONE#1]"),
    ("Telephone 6502530000", "Telephone [PHONE#1]"),
    ("Call 650-253-0000 or reach 020 7946 0018", "Call [PHONE#1] or reach [PHONE#2]"),
    ("Tel13812345678", "Tel[PHONE#1]"),
)  # fmt: skip


@pytest.mark.parametrize("text", STAY)
def test_numbers_of_other_things_stay(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(("text", "expected"), GO)
def test_what_stands_beside_an_identifier_goes(text: str, expected: str) -> None:
    assert redact(text) == expected
    assert redact(expected) == expected


@given(st.lists(st.sampled_from([*SURVIVORS, "and", "的", "see"]), min_size=1, max_size=8))
@settings(deadline=None)
def test_identifiers_survive_in_any_company(words: list[str]) -> None:
    text = " ; ".join(words)
    assert redact(text) == text


@pytest.mark.parametrize(
    "name", ["access_token", "api_key", "token", "password", "sig", "client_secret"]
)
def test_secrets_of_addresses(name: str) -> None:
    bare = redact_url(f"https://a.example/p?x=1&{name}=abcd1234efgh")
    assert "abcd1234efgh" not in bare
    assert bare.startswith("https://a.example/p?x=1&")
    assert redact_url(bare) == bare


@pytest.mark.parametrize(
    "url",
    [
        "https://doi.org/10.1002/(SICI)1097-4571(199806)49:8%3C693::AID-ASI4%3E3.0.CO;2-O",
        "https://arxiv.org/abs/2401.12345v2",
        "https://orcid.org/0000-0002-1825-0097",
        "https://nvd.nist.gov/vuln/detail/CVE-2021-44228",
    ],
)
def test_addresses_of_works_stay(url: str) -> None:
    assert redact_url(url) == url
