"""Which part of a published answer makes statements, which addresses it names, and whether they were fetched."""

import re
from collections.abc import Collection

from msgspec import Struct

_SOURCES_HEADING = re.compile(
    r"^[#*\s]*(?:来源|参考来源|引用|参考文献|sources|references)[*\s]*[:：]?[*\s]*$",
    re.IGNORECASE | re.MULTILINE,
)
_META_LINE = re.compile(r"^\s*(?:置信度|confidence)\s*[:：].*$", re.IGNORECASE | re.MULTILINE)
_ANSWER_FIRST = re.compile(r"^\s*(?:先答|answer)\s*[:：]\s*", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://[^\s<>\"“”，。；！？、）】」』》]+")
_TRAILING = ".,;:!?'*_"


class CitationIssue(Struct, frozen=True, kw_only=True):
    """A cited address that this job did not fetch, and what to do about it."""

    type: str
    url: str
    action: str


def statement_part(text: str) -> str:
    """Return what an answer states: without its closing list of sources, confidence line and answer mark.

    Only a heading on a line of its own ends the text, and the last one counts: a quoted 来源： inside a sentence is
    part of the statement.
    """
    headings = list(_SOURCES_HEADING.finditer(text))
    body = text[: headings[-1].start()] if headings else text
    return _ANSWER_FIRST.sub("", _META_LINE.sub("", body)).strip()


def cited_addresses(text: str) -> tuple[str, ...]:
    """Return the http(s) addresses in a text, each once, without the punctuation that follows them."""
    return tuple(dict.fromkeys(_trimmed(match.group()) for match in _ADDRESS.finditer(text)))


def citation_issues(text: str, fetched_urls: Collection[str]) -> tuple[CitationIssue, ...]:
    """Return an issue for each address in the text that is not among the fetched ones."""
    return tuple(
        CitationIssue(type="citation_not_fetched", url=url, action="mark_unverified")
        for url in cited_addresses(text)
        if url not in fetched_urls
    )


def _trimmed(url: str) -> str:
    while url and (url[-1] in _TRAILING or (url[-1] in ")]" and _is_unopened(url))):
        url = url[:-1]
    return url


def _is_unopened(url: str) -> bool:
    return url.count("(" if url[-1] == ")" else "[") < url.count(url[-1])
