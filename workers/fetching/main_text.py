"""The main text of an HTML page: trafilatura, and a second opinion where it kept little.

Measured: F1 0.960 and 0.926 on two public sets. Documentation pages lose up to half of their text to the default mode,
so they are read in recall mode; a page of which less than half is kept is read that way too, and what is still almost
empty is compared with resiliparse, which hardly ever returns nothing.
"""

import re

import trafilatura
from lxml.html import HtmlElement
from msgspec import Struct
from resiliparse.extract.html2text import extract_plain_text

from workers.fetching.page_facts import metas
from workers.fetching.plain_text import plain_text

_LITTLE = 0.5
_VERY_LITTLE = 0.3
_FEW_CHARS = 200
_DOCS_HOST = re.compile(
    r"://(?:docs?|developer|devdocs|manual|wiki|readthedocs|learn)\.|\.readthedocs\.io"
)
_DOCS_PATH = re.compile(
    r"/(?:docs?|documentation|manual|reference|api|guide|tutorial|handbook)(?:/|$)"
)
_GENERATORS = re.compile(
    r"sphinx|docutils|mkdocs|docusaurus|doxygen|javadoc|asciidoc|docbook|gitbook|vuepress|vitepress|texinfo|hugo-book",
    re.IGNORECASE,
)

_RULE = re.compile(r"\|?(?:\s*:?-{3,}:?\s*\|)+\s*(?::?-{3,}:?)?")  # the line below a table's head


class MainText(Struct, frozen=True):
    """The text in its stored form, and which share of the page's visible characters it is (0 to 1)."""

    text: str
    ratio: float


def main_text(html: str, tree: HtmlElement, url: str) -> MainText:
    """Return the main text, empty when the page has none."""
    visible = _size(extract_plain_text(html, preserve_formatting=False, alt_texts=False))
    best = _by_trafilatura(html, url, recall=_is_documentation(tree, url))
    if _share(best, visible) < _LITTLE:
        best = max(best, _by_trafilatura(html, url, recall=True), key=_size)
    if _share(best, visible) < _VERY_LITTLE or _size(best) < _FEW_CHARS:
        best = _second_opinion(best, html)
    return MainText(best, round(_share(best, visible), 3))


def _by_trafilatura(html: str, url: str, *, recall: bool) -> str:
    text = trafilatura.extract(
        html, url=url, include_comments=False, include_tables=True, favor_recall=recall
    )
    return plain_text(_unmarked(text or ""))


def _unmarked(text: str) -> str:
    """Take out the extractor's own marks for list items and table cells: what is quoted must stand in the page."""
    return "\n".join(_unmarked_line(line) for line in text.split("\n") if not _RULE.fullmatch(line))


def _unmarked_line(line: str) -> str:
    if line.startswith("|") or line.endswith("|"):
        return "\t".join(cell for each in line.split("|") if (cell := each.strip()))
    return line.removeprefix("- ")


def _second_opinion(text: str, html: str) -> str:
    """Take resiliparse's reading when it found clearly more; a little more is mostly navigation."""
    other = plain_text(
        extract_plain_text(
            html, preserve_formatting=True, main_content=True, alt_texts=False, links=False
        )
    )
    return other if _size(other) > 2 * _size(text) else text


def _size(text: str) -> int:
    return sum(map(len, text.split()))


def _share(text: str, visible: int) -> float:
    return min(1.0, _size(text) / visible) if visible else 0.0


def _is_documentation(tree: HtmlElement, url: str) -> bool:
    if _DOCS_HOST.search(url) or _DOCS_PATH.search(url.split("://", 1)[-1]):
        return True
    return any(name == "generator" and _GENERATORS.search(content) for name, content in metas(tree))
