"""What the encyclopedia's emulator makes of an article: extract, snippet, summary and web page."""

import html
import re
from urllib.parse import quote

from infra.loopback_web.corpus import Article
from infra.loopback_web.search import terms


def snippet(text: str, wanted: set[str]) -> str:
    """Return the start of a text as HTML, with the words searched for marked."""
    start = " ".join(text.split())[:160]
    return re.sub(
        r"\w+",
        lambda word: (
            f'<span class="searchmatch">{word[0]}</span>'
            if wanted & set(terms(word[0]))
            else word[0]
        ),
        html.escape(start, quote=False),
    )


def extract(article: Article, *, intro: bool) -> str:
    """Return the plain text as TextExtracts writes it: of the whole article or of its introduction."""
    text = article.text.strip()
    return text.partition("\n== ")[0].strip() if intro else text.replace("\n\n== ", "\n\n\n== ")


def summary(article: Article, host: str, language: str) -> dict[str, object]:
    """Return the body of the REST summary."""
    address = f"https://{host}/wiki/{quote(article.title.replace(' ', '_'))}"
    return {
        "type": "disambiguation" if article.disambiguation else "standard",
        "title": article.title,
        "lang": language,
        "timestamp": article.edited,
        "content_urls": {"desktop": {"page": address}},
        "extract": extract(article, intro=True),
    }


def article_page(article: Article, language: str) -> str:
    """Return the article as a web page."""
    blocks = [
        f"<h2>{html.escape(block.strip('= '))}</h2>"
        if block.startswith("==")
        else f"<p>{html.escape(block)}</p>"
        for block in re.split(r"\n+", article.text.strip())
    ]
    title = html.escape(article.title)
    return (
        f'<!DOCTYPE html><html lang="{language}"><head><meta charset="utf-8"><title>{title} - Wikipedia</title></head>'
        f"<body><main><h1>{title}</h1>{''.join(blocks)}</main></body></html>"
    )
