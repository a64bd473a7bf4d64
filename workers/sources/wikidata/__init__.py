"""Wikidata by the Wikibase API: what is stated about a thing, as short sentences in Chinese or English.

Three steps: search by name; the best items with their statements; the labels of the things those statements point to.
A pure `parse` sees one reply only, so the third request carries the statements itself: its `ids` are the subject
followed by pairs of property and value. Only properties and units with a name in `wording` are put into words.
"""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

from signal_search.contracts.document import Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import address, call
from workers.records import NO_WORDS, read_json, refuse, refuse_error, size_of
from workers.sources.wikidata.replies import ITEM, Body, Entity, Hit, is_thing, label, values
from workers.sources.wikidata.wording import PROPERTIES, description, sentence

_LANGUAGES = ("en", "zh")
_MAX_SEARCH = 50  # wbsearchentities, "limit"
_MAX_IDS = 50  # wbgetentities, "ids", for clients without a bot's rights
_MAX_ITEMS = 2  # the item of a country is megabytes of statements
_MAX_LAG_S = 5  # API:Etiquette, "The maxlag parameter"
_MAX_QUERY_CHARS = 250  # labels and aliases are no longer (Wikibase, string limits)


class Wikidata:
    """The knowledge base behind the encyclopedias: names, descriptions, figures, dates and relations of things."""

    name: str = "wikidata"
    pushes_down: frozenset[str] = frozenset({"language"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return the search for the first of the search words: items are found by name, not by sentence."""
        language = _language(ask.language)
        fields = {
            "action": "wbsearchentities",
            "search": _name_of(ask),
            "language": language,
            "uselang": language,
            "type": "item",
            "limit": str(size_of(ask, _MAX_SEARCH)),
        }
        return (self._request(self._config.endpoint, fields, 0),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn hits into a request for items, items into documents, and labels into a document of relations.

        Raises:
            BadReply: HTML, truncated or wrong-shaped JSON, an API error sent with 200.
        """
        body = read_json(reply, Body)
        if body.error is not None:
            refuse_error(reply, body.error.code)
        if body.search is not None:
            return self._items_wanted(request, body.search)
        if body.entities is None:
            refuse("JSON of another shape")
        asked = _asked(request.url)
        if any(each.startswith("P") for each in asked):
            return self._relations(request, reply, body.entities, asked)
        return self._items(request, reply, body.entities, asked)

    def _items_wanted(self, request: Request, hits: list[Hit]) -> Parsed:
        ids = [hit.id for hit in hits if ITEM.fullmatch(hit.id)][:_MAX_ITEMS]
        props = "info|labels|descriptions|aliases|claims"
        return Parsed(requests=self._entities(request, ids, props, 1), total=len(hits))

    def _items(
        self, request: Request, reply: Reply, entities: dict[str, Entity], asked: list[str]
    ) -> Parsed:
        known = [entities[each] for each in asked if each in entities]
        items = [each for each in known if is_thing(each)]
        language = _asked_language(request.url)
        texts = [(each, description(each, language)) for each in items]
        left_out = len(known) - len(items)
        ids = [token for each in items for token in _triples(each)][:_MAX_IDS]
        return Parsed(
            documents=tuple(
                self._document(reply, each, text, language) for each, text in texts if text
            ),
            requests=self._entities(request, _whole_pairs(ids), "info|labels", 2),
            note=f"{left_out} items missing, unnamed or disambiguations" if left_out else "",
        )

    def _relations(
        self, request: Request, reply: Reply, entities: dict[str, Entity], asked: list[str]
    ) -> Parsed:
        language = _asked_language(request.url)
        names = {key: label(entity) for key, entity in entities.items()}
        told: dict[str, list[str]] = {}
        for subject, prop, value in _read_triples(asked):
            if names.get(subject) and names.get(value) and prop in PROPERTIES:
                line = sentence(language, names[subject], prop, names[value])
                told.setdefault(subject, []).append(line)
        return Parsed(
            documents=tuple(
                self._document(
                    reply, entities[subject], "\n".join(sentences), language, pinned=False
                )
                for subject, sentences in told.items()
            )
        )

    def _document(
        self, reply: Reply, entity: Entity, text: str, language: str, *, pinned: bool = True
    ) -> Document:
        """Return a document; figures are addressed by revision, relations (read later) by the item alone."""
        revision = f"?oldid={entity.lastrevid}" if pinned and entity.lastrevid > 0 else ""
        host = urlsplit(self._config.endpoint)
        edited = entity.modified[:10]
        return make_document(
            url=f"{host.scheme}://{host.netloc}/wiki/{entity.id}{revision}",
            title=label(entity),
            text=text,
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=DocumentFacts(
                language=language,
                container="Wikidata",
                publisher="Wikimedia Foundation",
                work_type="dataset",
                source_type=self._config.source_type,
                signals=(f"last_edit={edited}",) if edited else (),
            ),
        )

    def _entities(
        self, request: Request, ids: list[str], props: str, depth: int
    ) -> tuple[Request, ...]:
        if not ids:
            return ()
        fields = {
            "action": "wbgetentities",
            "ids": "|".join(ids),
            "props": props,
            "languages": _asked_language(request.url),
            "languagefallback": "1",
        }
        return (self._request(request.url.partition("?")[0], fields, depth),)

    def _request(self, endpoint: str, fields: dict[str, str], depth: int) -> Request:
        fixed = {"format": "json", "formatversion": "2", "maxlag": str(_MAX_LAG_S)}
        url = address(self._config, endpoint, fields | fixed)
        return call(self._config, self.name, url, depth=depth)


def _language(language: str) -> str:
    primary = language.partition("-")[0].lower()
    return primary if primary in _LANGUAGES else _LANGUAGES[0]


def _name_of(ask: SourceQuery) -> str:
    words = " ".join((next(iter(ask.terms), "") or ask.text).split())
    return words[:_MAX_QUERY_CHARS].strip() or NO_WORDS


# --- statements as requests: subject, then pairs of property and value --------------------------------------------


def _asked(url: str) -> list[str]:
    return parse_qs(urlsplit(url).query).get("ids", [""])[0].split("|")


def _asked_language(url: str) -> str:
    query = parse_qs(urlsplit(url).query)
    return _language((query.get("languages") or query.get("language") or [""])[0])


def _triples(entity: Entity) -> Iterator[str]:
    pairs = [
        (prop, value.id)
        for prop in PROPERTIES
        for value, _as_of in values(entity, prop)
        if ITEM.fullmatch(value.id) and value.id.startswith("Q")
    ]
    if pairs:
        yield entity.id
    for prop, value_id in pairs:
        yield from (prop, value_id)


def _whole_pairs(ids: list[str]) -> list[str]:
    """Drop what the limit cut in two: a property without its value, a subject without any."""
    while ids and (ids[-1].startswith("P") or len(ids) < 3 or not ids[-2].startswith("P")):
        ids = ids[:-1]
    return ids


def _read_triples(asked: list[str]) -> Iterator[tuple[str, str, str]]:
    subject = ""
    for before, token in zip(["", *asked], asked, strict=False):
        if before.startswith("P"):
            yield subject, before, token
        elif token.startswith("Q"):
            subject = token
