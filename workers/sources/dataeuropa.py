"""data.europa.eu hub search: records of public data sets of Europe, Eurostat's among them.

Titles and descriptions come in many languages, machine-translated ones included; the question's is taken, else English,
else what there is, and the document says which. A record describes a data set; the figures are in its files.
"""

import re
from urllib.parse import quote

from msgspec import Struct
from signal_search.contracts.document import Author, Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import address, call
from workers.records import (
    iso,
    left_out,
    line,
    lines,
    read_json,
    readable,
    refuse,
    size_of,
    words_of,
)

_MAX_LIMIT = 1000
_MOST_WORDS = 5
_MOST_FORMATS = 6
_INCLUDES = (
    "id,title,description,publisher,catalog,country,issued,modified,distributions.format,landing_page,"
    "translation_meta"
)
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]{0,200}")


class _Body(Struct, frozen=True):
    result: object


class _Result(Struct, frozen=True):
    results: list[object]
    count: int | None = None


class _Dataset(Struct, frozen=True):
    id: str
    title: object = None
    description: object = None
    publisher: object = None
    catalog: object = None
    country: object = None
    issued: str | None = None
    modified: str | None = None
    distributions: list[object] | None = None


class DataEuropa:
    """The catalogue of open data of the European Union and its countries."""

    name: str = "dataeuropa"
    pushes_down: frozenset[str] = frozenset()
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one search of data sets, best matches first."""
        fields = {
            "q": " ".join(words_of(ask, most=_MOST_WORDS, hyphens=False)) or "statistics",
            "filter": "dataset",
            "limit": str(size_of(ask, _MAX_LIMIT)),
            "page": "0",
            "sort": "relevance+desc",
            "includes": _INCLUDES,
        }
        url = address(self._config, self._config.endpoint, fields, safe=",")
        language = ask.language if re.fullmatch(r"[A-Za-z-]{2,10}", ask.language) else ""
        return (call(self._config, self.name, url, accept_language=language),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn records into documents: title, description, who publishes it, since when, in which formats.

        Raises:
            BadReply: HTML, truncated or wrong-shaped JSON, an error with status 200.
        """
        results = readable([read_json(reply, _Body).result], _Result)
        if not results:
            refuse("JSON of another shape")
        result = results[0]
        asked = request.accept_language[:2].lower() or "en"
        known = [
            (each, *title)
            for each in readable(result.results, _Dataset)
            if _ID.fullmatch(each.id) and (title := _told(each.title, asked))[0]
        ]
        return Parsed(
            documents=tuple(
                self._document(each, title, spoken, reply) for each, title, spoken in known
            ),
            total=result.count,
            note=left_out(len(result.results), len(known)),
        )

    def _document(self, dataset: _Dataset, title: str, language: str, reply: Reply) -> Document:
        issued, publisher = iso(dataset.issued), _name(dataset.publisher)
        description = lines(_raw(dataset.description, language)[0])
        facts = "\n".join(_facts(dataset, issued, publisher))
        return make_document(
            url=f"https://data.europa.eu/data/datasets/{quote(dataset.id, safe='~')}",
            title=title,
            text="\n\n".join(filter(None, (title, description, facts))),
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=DocumentFacts(
                language=language,
                published=issued,
                date_kind="record" if issued else "none",
                authors=(Author(literal=publisher),) if publisher else (),
                container=_name(dataset.catalog, "title"),
                publisher=publisher,
                work_type="dataset",
                source_type=self._config.source_type,
                signals=("catalogue_record",),
            ),
        )


def _raw(value: object, language: str) -> tuple[str, str]:
    """Return a text and its language: the one asked for, else English, else the first there is."""
    if isinstance(value, str):
        return value, language
    if not isinstance(value, dict):
        return "", ""
    texts = {key[:2]: text for key, text in value.items() if isinstance(key, str)}
    order = dict.fromkeys((language, "en", *texts))
    chosen = ((text, key) for key in order if isinstance(text := texts.get(key), str) and text)
    return next(chosen, ("", ""))


def _told(value: object, language: str) -> tuple[str, str]:
    text, spoken = _raw(value, language)
    return line(text), spoken


def _name(value: object, key: str = "name") -> str:
    """Return the name in a nested record, which may be a text or a text per language."""
    return _told(value.get(key), "en")[0] if isinstance(value, dict) else ""


def _facts(dataset: _Dataset, issued: str, publisher: str) -> list[str]:
    modified, country = iso(dataset.modified), _name(dataset.country, "label")
    formats = _formats(dataset.distributions or [])
    told = [
        f"The data set is published by {publisher}." if publisher else "",
        f"It covers or comes from {country}." if country else "",
        f"It was issued {_when(issued)}." if issued else "",
        f"It was last modified {_when(modified)}." if modified else "",
        f"It is available as {', '.join(formats)}." if formats else "",
    ]
    return [each for each in told if each]


def _when(day: str) -> str:
    return f"on {day}" if len(day) == 10 else f"in {day}"


def _formats(distributions: list[object]) -> list[str]:
    labels = (
        _name(each.get("format"), "label") for each in distributions if isinstance(each, dict)
    )
    return [label for label in dict.fromkeys(labels) if label][:_MOST_FORMATS]
