"""Charsets: what a declaration in any place says, what happens when it is wrong, and what is found without any."""

import pytest

from workers.fetching.decoding import decode

CHINESE = "河务局星期二公布了年度报告。报告说，旧桥处的水位在三月到六月之间上升了四十厘米，比建站以来任何一个春天都多。"
TRADITIONAL = "河務局星期二公布了年度報告。報告說，舊橋處的水位在三月到六月之間上升了四十公分，比建站以來任何一個春天都多。"
JAPANESE = "河川局は火曜日に年次報告書を発表した。古い橋の水位は三月から六月までに四十センチ上がったという。カタカナもある。"
KOREAN = "하천청은 화요일에 연례 보고서를 발표했다. 보고서에 따르면 옛 다리의 수위가 삼월부터 유월까지 사십 센티미터 올랐다."
RUSSIAN = "Речное управление во вторник опубликовало годовой отчёт. Уровень воды у старого моста поднялся на сорок сантиметров."
GREEK = "Η υπηρεσία ποταμών δημοσίευσε την Τρίτη την ετήσια έκθεσή της. Η στάθμη στην παλιά γέφυρα ανέβηκε σαράντα εκατοστά."
GERMAN = "Die Flussbehörde veröffentlichte am Dienstag ihren Bericht: Über vierzig Zentimeter höher stand das Wasser – für Österreich."
FRENCH = "L’autorité fluviale a publié son rapport annuel. L’eau s’est élevée de quarante centimètres près de la passerelle, à Évry."
POLISH = "Zarząd rzek ogłosił we wtorek raport roczny. Poziom wody przy starym moście podniósł się o czterdzieści centymetrów, więc źle."
TURKISH = "Nehir idaresi salı günü yıllık raporunu yayımladı. Eski köprüdeki su seviyesi kırk santimetre yükseldi, şaşırtıcı değil."
HEBREW = (
    "רשות הנחלים פרסמה ביום שלישי את הדוח השנתי. מפלס המים ליד הגשר הישן עלה בארבעים סנטימטרים."
)
ARABIC = "نشرت هيئة الأنهار يوم الثلاثاء تقريرها السنوي. ارتفع منسوب المياه عند الجسر القديم أربعين سنتيمترا."
THAI = "สำนักงานแม่น้ำเผยแพร่รายงานประจำปีเมื่อวันอังคาร ระดับน้ำที่สะพานเก่าเพิ่มขึ้นสี่สิบเซนติเมตร"

# text, the encoding it is in, the label a page gives it
LABELLED = [
    (CHINESE, "utf-8", "utf-8"),
    (CHINESE, "gb18030", "gb18030"),
    (CHINESE, "gbk", "gbk"),
    (CHINESE, "gbk", "gb2312"),
    (TRADITIONAL, "big5", "big5"),
    (JAPANESE, "shift_jis", "shift_jis"),
    (JAPANESE, "euc_jp", "euc-jp"),
    (KOREAN, "euc_kr", "euc-kr"),
    (RUSSIAN, "koi8_r", "koi8-r"),
    (RUSSIAN, "cp1251", "windows-1251"),
    (RUSSIAN, "iso8859_5", "iso-8859-5"),
    (GREEK, "iso8859_7", "iso-8859-7"),
    (GREEK, "cp1253", "windows-1253"),
    (GERMAN, "cp1252", "windows-1252"),
    (FRENCH, "cp1252", "iso-8859-1"),
    (POLISH, "iso8859_2", "iso-8859-2"),
    (POLISH, "cp1250", "windows-1250"),
    (TURKISH, "cp1254", "windows-1254"),
    (TURKISH, "iso8859_9", "iso-8859-9"),
    (HEBREW, "cp1255", "windows-1255"),
    (ARABIC, "cp1256", "windows-1256"),
    (THAI, "cp874", "windows-874"),
]
# Without any label: those that can be told from their bytes alone.
FOUND = [
    (CHINESE, "gb18030"),
    (TRADITIONAL, "big5"),
    (JAPANESE, "shift_jis"),
    (JAPANESE, "euc_jp"),
    (KOREAN, "euc_kr"),
    (RUSSIAN, "koi8_r"),
    (RUSSIAN, "cp1251"),
    (GREEK, "cp1253"),
    (GERMAN, "cp1252"),
    (HEBREW, "cp1255"),
    (ARABIC, "cp1256"),
]
ALL = [
    CHINESE,
    TRADITIONAL,
    JAPANESE,
    KOREAN,
    RUSSIAN,
    GREEK,
    GERMAN,
    FRENCH,
    POLISH,
    TURKISH,
    HEBREW,
    ARABIC,
    THAI,
]
labelled = pytest.mark.parametrize(("text", "encoding", "label"), LABELLED)


def page(text: str, head: str = "") -> str:
    return f"<html><head>{head}<title>x</title></head><body><p>{text}</p></body></html>"


@labelled
def test_declared_in_the_header(text: str, encoding: str, label: str) -> None:
    made = page(text)
    assert decode(made.encode(encoding), f"text/html; charset={label}", is_html=True)[0] == made


@labelled
@pytest.mark.parametrize(
    "element",
    [
        '<meta charset="{}">',
        "<META CHARSET={}>",
        '<meta http-equiv="Content-Type" content="text/html; charset={}">',
        "<meta content='text/html;charset={}' http-equiv=content-type>",
    ],
)
def test_declared_in_the_page(text: str, encoding: str, label: str, element: str) -> None:
    made = page(text, element.format(label))
    assert decode(made.encode(encoding), "text/html", is_html=True)[0] == made


@pytest.mark.parametrize(("text", "encoding"), FOUND)
def test_found_without_a_declaration(text: str, encoding: str) -> None:
    made = page(text * 4)
    assert decode(made.encode(encoding), "text/html", is_html=True)[0] == made
    assert decode((text * 4).encode(encoding), "text/plain", is_html=False)[0] == text * 4


@pytest.mark.parametrize("text", ALL)
@pytest.mark.parametrize("wrong", ["iso-8859-1", "us-ascii", "nonsense-8", ""])
def test_utf8_is_seen_behind_a_wrong_declaration(text: str, wrong: str) -> None:
    made = page(text)
    assert decode(made.encode(), f"text/html; charset={wrong}", is_html=True)[0] == made


@pytest.mark.parametrize("text", ALL)
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_wins(text: str, encoding: str) -> None:
    made = page(text, '<meta charset="iso-8859-1">')
    assert decode(made.encode(encoding), "text/html; charset=big5", is_html=True)[0] == made


@pytest.mark.parametrize("text", [CHINESE, JAPANESE, KOREAN])
def test_a_meta_element_counts_in_html_only(text: str) -> None:
    """A JSON text that quotes a page keeps its own charset."""
    made = '{"page": "<meta charset=\\"windows-1251\\">", "text": "' + text + '"}'
    assert decode(made.encode(), "application/json", is_html=False)[0] == made


def test_a_charset_that_cannot_be_is_not_believed() -> None:
    made = page(CHINESE * 3)
    assert decode(made.encode("gb18030"), "text/html; charset=utf-8", is_html=True)[0] == made


def test_the_windows_characters_of_latin_1() -> None:
    """WHATWG: iso-8859-1 means windows-1252, so that quotes and dashes are letters and not control characters."""
    raw = b"<p>\x93quoted\x94 \x96 caf\xe9 \x80</p>"
    assert (
        decode(raw, "text/html; charset=iso-8859-1", is_html=True)[0] == "<p>“quoted” – café €</p>"
    )


@pytest.mark.parametrize("place", ["header", "meta"])
@pytest.mark.parametrize(
    "name",
    [
        "hex",
        "base64",
        "zip",
        "bz2",
        "rot13",
        "uu",
        "quopri",
        "idna",
        "punycode",
        "undefined",
        "unicode-escape",
        "Unicode_Escape",
        "raw_unicode_escape",
        "utf-7",
        "mbcs",
        "../etc",
    ],
)
def test_codecs_that_are_no_charsets_are_not_believed(name: str, place: str) -> None:
    """A page may name anything. The text is plain UTF-8 with what those codecs would rewrite or choke on."""
    made = page(f"caf\\u00e9 +ADw-b+AD4- {CHINESE}", f'<meta charset="{name}">' * (place == "meta"))
    kind = f"text/html; charset={name}" if place == "header" else "text/html"
    assert decode(made.encode(), kind, is_html=True)[0] == made


@pytest.mark.parametrize(
    "body", [b"", b"\xff", b"\xff\xfe", b"\x00" * 50, bytes(range(256)), b"\x80" * 9]
)
def test_any_bytes_give_a_text(body: bytes) -> None:
    text, charset = decode(body, "text/html", is_html=True)
    assert (isinstance(text, str), bool(charset)) == (True, True)
