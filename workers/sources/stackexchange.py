"""Stack Exchange by its API: questions found by words, then the best answers to them.

Every reply is packed with gzip. A reply may carry `backoff`: seconds during which the same method must not be called;
it is handed on as the pause of the host. Texts are HTML; titles are escaped. The site is a parameter of the row.
"""

import re
from datetime import UTC, datetime
from urllib.parse import urlsplit

from lxml import etree
from lxml import html as lxml_html
from msgspec import Struct
from signal_search.contracts.document import Author, Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import address, call
from workers.records import (
    NO_WORDS,
    days_of,
    line,
    read_json,
    readable,
    refuse,
    refuse_error,
    seconds_of,
    size_of,
    words_of,
)

_MAX_PAGE_SIZE = 100
_MAX_QUERY_CHARS = 240
_MAX_WORDS = 5  # every word must be found
_MAX_QUESTIONS = 3
_MAX_ANSWERS = 10
_MAX_TEXT_CHARS = 100_000
_DAY_S = 86_400
_OWN_DOMAINS = ("stackoverflow", "superuser", "serverfault", "askubuntu", "stackapps")
_BLOCKS = "//p | //br | //li | //pre | //h1 | //h2 | //h3 | //blockquote | //tr"


class _Owner(Struct):
    display_name: str | None = None


class _Post(Struct):
    """A question, or an answer when it has an answer's id."""

    question_id: int
    answer_id: int | None = None
    title: str = ""
    body: str = ""
    score: int = 0
    creation_date: int = 0
    is_accepted: bool = False
    accepted_answer_id: int | None = None
    answer_count: int = 0
    owner: _Owner | None = None


class _Body(Struct):
    items: list[object] | None = None
    has_more: bool = False
    total: int | None = None
    backoff: float | None = None
    quota_remaining: int | None = None
    error_id: int | None = None
    error_name: object = None


class StackExchange:
    """Questions and their answers on Stack Overflow, or on another site of the network."""

    name: str = "stackexchange"
    pushes_down: frozenset[str] = frozenset({"freshness"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row; `params` may name another `site`."""
        self._config = config
        self._site = config.params.get("site", "stackoverflow")

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return the search. A freshness of the form `A..B` becomes the questions asked from A to B."""
        fields = {
            "q": _words(ask),
            "pagesize": str(size_of(ask, _MAX_PAGE_SIZE)),
            "order": "desc",
            "sort": "relevance",
            **_period(ask.freshness),
        }
        return (self._request(self._config.endpoint, fields),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn questions into documents and a request for their answers, and answers into documents.

        Raises:
            BadReply: HTML, truncated or wrong-shaped JSON, an error sent with 200 (with the pause it asks for).
        """
        body = read_json(reply, _Body)
        if body.error_id is not None:
            refuse_error(reply, body.error_name)
        items = body.items if body.items is not None else refuse("JSON of another shape")
        posts = [each for each in readable(items, _Post) if line(each.title) or _plain(each.body)]
        titles = _carried(request.words)
        return Parsed(
            documents=tuple(self._document(each, reply, titles) for each in posts),
            requests=self._answers(request, [each for each in posts if _has_answers(each)]),
            total=body.total,
            note=_note(body, len(items) - len(posts)),
            pause_s=max(0.0, body.backoff or 0.0),
        )

    def _answers(self, request: Request, questions: list[_Post]) -> tuple[Request, ...]:
        """Return the request for the answers to the best questions; the questions' titles travel with it."""
        best = questions[:_MAX_QUESTIONS]
        if not best:
            return ()
        parts = urlsplit(request.url)
        root = parts.path.rsplit("/search", 1)[0]
        ids = ";".join(str(each.question_id) for each in best)
        place = f"{parts.scheme}://{parts.netloc}{root}/questions/{ids}/answers"
        fields = {"pagesize": str(_MAX_ANSWERS), "order": "desc", "sort": "votes"}
        told = "\n".join(f"{each.question_id} {line(each.title)}" for each in best)
        return (self._request(place, fields, depth=1, words=told),)

    def _request(
        self, place: str, fields: dict[str, str], *, depth: int = 0, words: str = ""
    ) -> Request:
        fixed = {"site": self._site, "filter": "withbody"}
        url = address(self._config, place, fields | fixed)
        return call(self._config, self.name, url, depth=depth, words=words)

    def _document(self, post: _Post, reply: Reply, titles: dict[int, str]) -> Document:
        is_answer = post.answer_id is not None
        origin = f"https://{_domain(self._site)}"
        title = line(post.title) or titles.get(post.question_id, "")
        asked = _day(post.creation_date)
        return make_document(
            url=f"{origin}/a/{post.answer_id}" if is_answer else f"{origin}/q/{post.question_id}",
            title=title,
            text="\n\n".join(part for part in (title, _plain(post.body)) if part),
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=DocumentFacts(
                language=self._config.language,
                published=asked,
                date_kind="record" if asked else "none",
                authors=_authors(post),
                container=_domain(self._site),
                work_type="post",
                source_type=self._config.source_type,
                record=False,
                signals=_signals(post, is_answer=is_answer),
            ),
        )


def _words(ask: SourceQuery) -> str:
    return " ".join(words_of(ask, most=_MAX_WORDS))[:_MAX_QUERY_CHARS].strip() or NO_WORDS


def _period(freshness: str | None) -> dict[str, str]:
    """Return Unix times from the start of the first day to the end of the last, UTC."""
    days = days_of(freshness)
    if days is None:
        return {}
    start, end = map(seconds_of, days)
    return {"fromdate": str(start), "todate": str(end + _DAY_S - 1)}


def _domain(site: str) -> str:
    if "." in site:
        return site if site.rpartition(".")[2] in {"com", "net"} else f"{site}.com"
    return f"{site}.com" if site in _OWN_DOMAINS else f"{site}.stackexchange.com"


def _has_answers(post: _Post) -> bool:
    return post.answer_id is None and (post.answer_count > 0 or post.accepted_answer_id is not None)


def _carried(words: str) -> dict[int, str]:
    """Read the titles of questions, by their ids, that travelled with the request for answers."""
    pairs = (told.partition(" ") for told in words.splitlines())
    return {int(number): title for number, _, title in pairs if re.fullmatch("[0-9]{1,12}", number)}


def _note(body: _Body, lost: int) -> str:
    notes = [f"{lost} posts unreadable or empty"] if lost else []
    if body.quota_remaining is not None and body.quota_remaining <= 0:
        notes.append("the day's allowance is used up")
    return "; ".join(notes)


def _authors(post: _Post) -> tuple[Author, ...]:
    name = line(post.owner.display_name if post.owner else "")
    return (Author(literal=name),) if name else ()


def _signals(post: _Post, *, is_answer: bool) -> tuple[str, ...]:
    told = (f"score={post.score}", "answer" if is_answer else "question")
    return (*told, "accepted") if post.is_accepted else told


def _day(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).date().isoformat() if seconds > 0 else ""
    except (ValueError, OverflowError, OSError):
        return ""


def _plain(markup: str) -> str:
    """Return the text of an HTML fragment, block by block."""
    try:
        tree = lxml_html.document_fromstring(f"<div>{markup[:_MAX_TEXT_CHARS]}</div>")
    except (etree.LxmlError, ValueError):
        return ""
    for block in tree.xpath(_BLOCKS):
        block.tail = f"\n{block.tail or ''}"
    lines = (" ".join(line.split()) for line in str(tree.text_content()).splitlines())
    return "\n".join(line for line in lines if line)
