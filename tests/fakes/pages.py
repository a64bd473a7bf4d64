"""Pages written for these tests: an article, a documentation page, and a PDF with a text layer."""

PARAGRAPHS = (
    (
        "The river authority published its yearly report on Tuesday. It describes how the water level at the old bridge"
        " rose by forty centimetres between March and June, more than in any spring since the gauge was built."
    ),
    (
        "Engineers measured the flow at seven places. At six of them the increase was larger than the model had predicted,"
        " and at one place, below the weir, the instruments failed during the flood and had to be replaced."
    ),
    (
        "The report recommends that the lower meadows be kept free of buildings. A public meeting about the plan will be held"
        " in the town hall, where the engineers will answer questions about the figures and their uncertainty."
    ),
)

ARTICLE = f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<title>River level rose by forty centimetres - The Valley Courier</title>
<meta property="og:title" content="River level rose by forty centimetres">
<meta property="og:site_name" content="The Valley Courier">
<meta name="author" content="Maria Lindqvist">
<meta property="article:published_time" content="2024-07-02T08:00:00Z">
<meta name="citation_doi" content="10.1234/Valley.2024.07">
<script>var ad = {{"expires": "2031-01-31"}};</script></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/sport">Sport</a></li></ul></nav>
<article><h1>River level rose by forty centimetres</h1>
<p>{PARAGRAPHS[0]}</p><p>{PARAGRAPHS[1]} See the <a href="/data/gauges">gauge data</a>.</p><p>{PARAGRAPHS[2]}</p>
<p>Questions: press@valley.example or tel: 555-010-9988.</p></article>
<footer>Copyright <a href="/imprint" rel="nofollow">imprint</a></footer></body></html>"""


def pdf(text: str) -> bytes:
    """Return a one-page PDF that shows `text` (ASCII, no parentheses) in Helvetica."""
    content = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    fonts = b"/Resources << /Font << /F1 5 0 R >> >>"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R %s >>" % fonts,
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Title (The measured flow) >>",
    ]
    out = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % each for each in offsets)
    out += b"trailer << /Size %d /Root 1 0 R /Info 6 0 R >>\nstartxref\n%d\n%%%%EOF" % (
        len(objects) + 1,
        start,
    )
    return bytes(out)
