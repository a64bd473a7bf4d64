"""GitHub by its REST API: repositories found by words, then the README of the best ones.

Search is keyless. Too fast is 403 (or 429) with `x-ratelimit-remaining: 0` and the time in `x-ratelimit-reset`,
which is read where statuses are. A repository has no date of publication but one of creation; the last push is a
signal.
"""

import base64
import binascii
import re
from urllib.parse import quote, urlsplit

from msgspec import Struct
from signal_search.contracts.document import Author, Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import address, call
from workers.records import (
    NO_WORDS,
    days_of,
    iso,
    line,
    read_json,
    readable,
    refuse,
    refuse_error,
    size_of,
    words_of,
)

_VERSION = {"x-github-api-version": "2022-11-28"}
_MAX_PER_PAGE = 100
_MAX_QUERY_CHARS = 256  # docs.github.com/rest/search, "Limitations on query length"
_MAX_WORDS = 4  # every word must be found
_REACHABLE = 1000
_MAX_READMES = 2
_MAX_TEXT_CHARS = 200_000
_NAMED = re.compile(r"github\.com/([A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}?)(?:\.git)?(?![\w-])")
_FULL_NAME = re.compile(r"[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}")
_README_PATH = re.compile(r"/repos/([^/]+/[^/]+)/readme$")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_IMAGE = re.compile(r"\[?!\[[^\]\n]{0,300}\]\([^()\s]{0,1000}\)(?:\]\([^()\s]{0,1000}\))?")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,1000}>")


_MEANINGS = {422: "the query was not understood, or the repository does not exist"}


class _Owner(Struct):
    login: str = ""


class _Licence(Struct):
    spdx_id: str | None = None


class _Repository(Struct):
    full_name: str
    html_url: str = ""
    description: str | None = None
    language: str | None = None
    stargazers_count: int = 0
    topics: list[str] | None = None
    license: _Licence | None = None
    created_at: str | None = None
    pushed_at: str | None = None
    archived: bool = False
    owner: _Owner | None = None


class _Body(Struct):
    """Of a search or of a README; an error has a message alone."""

    message: str | None = None
    total_count: int | None = None
    incomplete_results: bool = False
    items: list[object] | None = None
    content: str | None = None
    encoding: str = ""
    html_url: str = ""


class GitHub:
    """Repositories: what they are, and what their README says."""

    name: str = "github"
    pushes_down: frozenset[str] = frozenset({"freshness"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return the search; a repository named by its address is asked for exactly.

        A freshness of the form `A..B` becomes a range of creation dates.
        """
        fields = {"q": _query(ask), "per_page": str(size_of(ask, _MAX_PER_PAGE))}
        return (self._request(address(self._config, self._config.endpoint, fields), 0),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn repositories into documents and README requests, and a README into a document.

        Raises:
            BadReply: HTML, truncated or wrong-shaped JSON, an error sent with 200.
        """
        body = read_json(reply, _Body)
        if body.content is not None:
            return self._readme(request, reply, body)
        if body.message:
            refuse_error(reply, body.message)
        items = body.items if body.items is not None else refuse("JSON of another shape")
        found = [each for each in readable(items, _Repository) if _is_named(each)]
        wanted = [self._readme_request(each) for each in found[:_MAX_READMES]]
        return Parsed(
            documents=tuple(self._document(each, reply) for each in found),
            requests=tuple(wanted),
            total=body.total_count,
            note=_note(body, len(items) - len(found)),
        )

    def _document(self, repo: _Repository, reply: Reply) -> Document:
        pushed = iso(repo.pushed_at)
        created = iso(repo.created_at)
        return make_document(
            url=f"https://github.com/{repo.full_name}",
            title=repo.full_name,
            text=_text(repo),
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=DocumentFacts(
                published=created,
                date_kind="record" if created else "none",
                authors=(Author(literal=repo.owner.login),)
                if repo.owner and repo.owner.login
                else (),
                publisher="GitHub",
                work_type="software",
                source_type=self._config.source_type,
                signals=_signals(repo, pushed),
            ),
        )

    def _readme(self, request: Request, reply: Reply, body: _Body) -> Parsed:
        named = _README_PATH.search(urlsplit(request.url).path)
        text = _plain(_decoded(body))
        if named is None or not text:
            return Parsed(note="the README is empty")
        document = make_document(
            url=body.html_url or f"https://github.com/{named[1]}#readme",
            title=f"{named[1]}: README",
            text=text,
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=DocumentFacts(
                authors=(Author(literal=named[1].partition("/")[0]),),
                publisher="GitHub",
                work_type="software",
                source_type=self._config.source_type,
                record=False,
            ),
        )
        return Parsed(documents=(document,))

    def _readme_request(self, repo: _Repository) -> Request:
        api = urlsplit(self._config.endpoint)
        path = quote(f"/repos/{repo.full_name}/readme")
        return self._request(f"{api.scheme}://{api.netloc}{path}", 1)

    def _request(self, url: str, depth: int) -> Request:
        return call(self._config, self.name, url, depth=depth, headers=_VERSION, meanings=_MEANINGS)


def _query(ask: SourceQuery) -> str:
    named = _NAMED.search(ask.text)
    if named:
        return f"repo:{named[1]}"
    days = days_of(ask.freshness)
    period = f" created:{days[0]}..{days[1]}" if days else ""
    words = " ".join(words_of(ask, most=_MAX_WORDS)) or NO_WORDS
    return _cut(words, _MAX_QUERY_CHARS - len(period)) + period


def _cut(words: str, limit: int) -> str:
    """Cut between words; one long word, or Chinese, is cut anywhere."""
    if len(words) <= limit:
        return words
    return words[:limit].rpartition(" ")[0] or words[:limit]


def _is_named(repo: _Repository) -> bool:
    return bool(_FULL_NAME.fullmatch(repo.full_name))


def _note(body: _Body, unreadable: int) -> str:
    notes = [f"{unreadable} repositories unreadable"] if unreadable else []
    if body.incomplete_results:
        notes.append("the search ran out of time and may be incomplete")
    if (body.total_count or 0) > _REACHABLE:
        notes.append(f"only the first {_REACHABLE} can be reached")
    return "; ".join(notes)


def _signals(repo: _Repository, pushed: str) -> tuple[str, ...]:
    told = [f"stars={repo.stargazers_count}"]
    told += [f"last_push={pushed}"] if pushed else []
    return (*told, "archived") if repo.archived else tuple(told)


def _text(repo: _Repository) -> str:
    name, licence = repo.full_name, (repo.license.spdx_id if repo.license else "") or ""
    lines = [f"{name}: {line(repo.description) or 'no description'}"]
    if repo.topics:
        lines.append(f"Topics: {', '.join(repo.topics[:20])}.")
    facts = f"{name} has {repo.stargazers_count} stars"
    facts += f" and is mainly written in {repo.language}" if repo.language else ""
    lines.append(f"{facts}.")
    if licence not in {"", "NOASSERTION"}:
        lines.append(f"The licence of {name} is {licence}.")
    if iso(repo.pushed_at):
        lines.append(f"The last push to {name} was on {iso(repo.pushed_at)}.")
    if repo.archived:
        lines.append(f"{name} is archived and no longer developed.")
    return "\n".join(lines)


def _decoded(body: _Body) -> str:
    if body.encoding != "base64":
        return ""
    try:
        return base64.b64decode(body.content or "").decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""


def _plain(markdown: str) -> str:
    """Return a README without comments, badges and tags; other marks do not disturb."""
    text = _COMMENT.sub("", markdown[:_MAX_TEXT_CHARS])
    lines = (line.rstrip() for line in _TAG.sub("", _IMAGE.sub("", text)).splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
