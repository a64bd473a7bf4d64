"""What a body is, and in which charset: declared types and charsets are not believed against the bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.fetching import a_reply
from workers.fetching.decoding import as_reply, decode, form_of

CHINESE = "检索系统从许多来源收集证据，并且检查每一个论断是否得到来源的支持。" * 3
RUSSIAN = (
    "Поисковая система собирает свидетельства из многих источников и проверяет каждое утверждение. "
    * 3
)
JAPANESE = "検索システムは多くの情報源から証拠を集め、すべての主張を確認します。" * 3


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (b"<!DOCTYPE html><html>", "text/html", "html"),
        (b"\n\n <HTML>", "text/plain", "html"),
        (b"<p>fragment", "", "html"),
        (b"words first <b>then</b>", "text/html; charset=x", "html"),
        (b"just words", "text/html", "html"),
        (b'<?xml version="1.0"?><!DOCTYPE html><html>', "application/xhtml+xml", "html"),
        (b'<?xml version="1.0"?><rss>', "text/xml", "data"),
        (b'{"a": 1}', "application/json", "data"),
        (b'{"a": 1}', "", "data"),
        (b"plain words", "text/plain", "text"),
        (b"# title", "text/markdown", "text"),
        (b"plain words", "", "text"),
        (b"%PDF-1.7", "text/html", "pdf"),
        (b"\x89PNG\r\n\x1a\n\x00", "text/html", "other"),
        (b"PK\x03\x04", "text/plain", "other"),
        (b"words", "application/octet-stream", "other"),
        ("<html>".encode("utf-16"), "text/html", "html"),
        (b"", "text/html", "html"),
    ],
)
def test_form(body: bytes, content_type: str, expected: str) -> None:
    assert form_of(body, content_type) == expected


@pytest.mark.parametrize(
    ("text", "charset", "declared"),
    [
        (CHINESE, "gbk", "gb2312"),
        (CHINESE + "㐀", "gb18030", "gbk"),
        (CHINESE, "gb18030", ""),
        (CHINESE, "utf-8", "iso-8859-1"),
        (CHINESE, "gbk", "utf-8"),
        (CHINESE, "utf-16", ""),
        (JAPANESE, "shift_jis", "x-sjis"),
        (JAPANESE, "euc-jp", ""),
        (RUSSIAN, "koi8-r", "koi8-r"),
        (RUSSIAN, "windows-1251", ""),
        ("“smart” — café " * 9, "windows-1252", "iso-8859-1"),
        ("naïve café, Grüße", "utf-8", "no-such-charset"),
    ],
)
def test_charset(text: str, charset: str, declared: str) -> None:
    content_type = f"text/plain; charset={declared}" if declared else "text/plain"
    assert decode(text.encode(charset), content_type, is_html=False)[0] == text


@pytest.mark.parametrize(
    "meta",
    [
        '<meta charset="gbk">',
        "<meta charset=gb2312>",
        '<meta http-equiv="Content-Type" content="text/html; charset=gbk">',
        '<meta httpequiv="Content-Type" content="text/html; charset=gbk">',  # w3lib#155
    ],
)
def test_meta_is_read_for_html_only(meta: str) -> None:
    page = f"<html><head>{meta}</head><body>中文</body></html>"
    assert "中文" in decode(page.encode("gbk"), "text/html", is_html=True)[0]
    quoted = b'{"html": "<meta charset=koi8-r>", "name": "caf\xc3\xa9"}'
    assert "café" in decode(quoted, "application/json", is_html=False)[0]


@given(
    st.binary(max_size=300), st.sampled_from(["text/html", "text/html; charset=gbk", "utf-7", ""])
)
def test_any_bytes_are_read(body: bytes, content_type: str) -> None:
    text, charset = decode(body, content_type, is_html=True)
    assert isinstance(text, str)
    assert charset


def test_reply_for_adapters() -> None:
    reply = as_reply(
        a_reply("é".encode("latin-1"), "application/json; charset=iso-8859-1", etag="x")
    )
    assert (reply.text, reply.body, reply.status, reply.headers["etag"]) == ("é", b"\xe9", 200, "x")
