"""www.wikidata.org: the search and entity modules of the Wikibase API.

Strict as the real one is: no contact in the User-Agent is 403, errors come with 200 and a `MediaWiki-API-Error` header,
unknown parameters are warnings in the reply and a complaint in the log, a second request at a time is 429 when rates
are enforced. Search is by the beginning of a name. Properties are entities, too; they have no label here.
"""

import re
import tomllib
from functools import lru_cache

import msgspec
from msgspec import Struct

from infra.loopback_web import exchange
from infra.loopback_web.corpus import FOLDER
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.mediawiki import main_fault, strange_values

_MAIN = {"action", "format", "formatversion", "maxlag", "errorformat", "uselang", "origin"}
_SEARCH = {"search", "language", "type", "limit", "continue", "strictlanguage", "props", "profile"}
_ENTITIES = {"ids", "props", "languages", "languagefallback", "sites", "titles", "redirects"}
_PROPS = {"info", "sitelinks", "sitelinks/urls", "aliases", "labels", "descriptions", "claims"}
_PROPS |= {"datatype"}
_TYPES = {"item", "property", "lexeme", "form", "sense"}
_MAX_SEARCH = 50
_MAX_IDS = 50
_FALLBACK = {"zh": ("zh", "zh-hans", "zh-cn", "mul", "en"), "en": ("en", "mul")}
_CONTACT = re.compile(r"https?://|\S@\S")
_ID = re.compile(r"[QPL][1-9][0-9]*")


class Statement(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is said of an item; exactly one kind of value is given."""

    property: str
    item: str = ""
    amount: str = ""
    unit: str = ""
    time: str = ""
    precision: int = 0
    text: str = ""
    rank: str = "normal"
    as_of: str = ""


class Item(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A thing with its names by language."""

    id: str
    revision: int
    modified: str
    labels: dict[str, str]
    descriptions: dict[str, str] = {}
    aliases: dict[str, list[str]] = {}
    statement: list[Statement] = []


@lru_cache(maxsize=1)
def items() -> dict[str, Item]:
    """Return the items by id."""
    rows = tomllib.loads((FOLDER / "wikidata.toml").read_text("utf-8"))["item"]
    return {item.id: item for item in msgspec.convert(rows, tuple[Item, ...])}


class Wikidata:
    """The knowledge base."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        """Serve the items."""
        self._enforce_pace = enforce_pace

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD", "POST"}:
            return exchange.method_not_allowed("GET", "HEAD", "POST")
        if not _CONTACT.search(ask.headers.get("user-agent", "")):
            return exchange.text(
                "Please set a user-agent and respect our robot policy.\n", status=403
            )
        if self._enforce_pace and ask.active > 1:
            return exchange.text("Too many requests\n", status=429, retry_after="1")
        if ask.path != "/w/api.php":
            return exchange.page("<html><body><h1>Not found</h1></body></html>", status=404)
        return _api(ask.fields)


def _api(fields: dict[str, str]) -> Answer:
    if fields.get("format") != "json":
        return _error("badvalue", 'This emulator speaks "format" json only.')
    code, told = main_fault(fields)
    if code:
        return _error(code, told)
    if fields.get("action") == "wbsearchentities":
        return _search(fields)
    if fields.get("action") == "wbgetentities":
        return _entities(fields)
    return _error("badvalue", 'Unrecognized value for parameter "action".')


def _search(fields: dict[str, str]) -> Answer:
    for name in ("search", "language"):
        if not fields.get(name):
            return _error("missingparam", f'The "{name}" parameter must be set.')
    limit = fields.get("limit", "7")
    if not limit.isdecimal() or not 1 <= int(limit) <= _MAX_SEARCH:
        return _error("badinteger", 'The "limit" parameter must be between 1 and 50.')
    if fields["language"] not in _FALLBACK or fields.get("type", "item") not in _TYPES:
        return _error("badvalue", 'Unrecognized value for parameter "language" or "type".')
    hits = [hit for item in items().values() if (hit := _hit(item, fields)) is not None]
    body = {"searchinfo": {"search": fields["search"]}, "search": hits[: int(limit)], "success": 1}
    return _answer(body, fields, _MAIN | _SEARCH)


def _hit(item: Item, fields: dict[str, str]) -> dict[str, object] | None:
    wanted, languages = fields["search"].strip().lower(), _FALLBACK[fields["language"]]
    label = _first(item.labels, languages)
    others = [alias for each in languages for alias in item.aliases.get(each, [])]
    kind = "label" if label and label[1].lower().startswith(wanted) else "alias"
    if kind == "alias" and not any(each.lower().startswith(wanted) for each in others):
        return None
    about = _first(item.descriptions, languages)
    return {
        "id": item.id,
        "title": item.id,
        "concepturi": f"http://www.wikidata.org/entity/{item.id}",
        "repository": "wikidata",
        "url": f"//www.wikidata.org/wiki/{item.id}",
        "label": label[1] if label else item.id,
        **({"description": about[1]} if about else {}),
        "match": {"type": kind, "language": fields["language"], "text": fields["search"]},
    }


def _first(texts: dict[str, str], languages: tuple[str, ...]) -> tuple[str, str] | None:
    return next(((each, texts[each]) for each in languages if each in texts), None)


def _entities(fields: dict[str, str]) -> Answer:
    ids = list(dict.fromkeys(filter(None, fields.get("ids", "").split("|"))))
    if not ids:
        return _error("param-missing", 'Either "ids" or pairs of "sites" and "titles".')
    if len(ids) > _MAX_IDS:
        return _error("toomanyvalues", 'Too many values supplied for parameter "ids".')
    wrong = [each for each in ids if not _ID.fullmatch(each)]
    if wrong:
        return _error("no-such-entity", "Could not find an entity with that ID.")
    props = set(fields.get("props", "info|sitelinks|aliases|labels|descriptions|claims").split("|"))
    if not props <= _PROPS:
        return _error("badvalue", 'Unrecognized value for parameter "props".')
    found = {each: _entity(each, fields, props) for each in ids}
    return _answer({"entities": found, "success": 1}, fields, _MAIN | _ENTITIES)


def _entity(key: str, fields: dict[str, str], props: set[str]) -> dict[str, object]:
    item = items().get(key)
    if key.startswith("P"):
        return {"type": "property", "id": key, "labels": {}, "datatype": "string"}
    if item is None:
        return {"id": key, "missing": ""}
    languages = fields.get("languages", "en").split("|")
    body: dict[str, object] = {"type": "item", "id": key}
    if "info" in props:
        body |= {"title": key, "modified": item.modified, "lastrevid": item.revision}
    for name, texts in (("labels", item.labels), ("descriptions", item.descriptions)):
        if name in props:
            body[name] = _terms(texts, languages, with_fallback="languagefallback" in fields)
    if "aliases" in props:
        body["aliases"] = {
            each: [{"language": each, "value": alias} for alias in item.aliases[each]]
            for each in languages
            if each in item.aliases
        }
    if "claims" in props:
        body["claims"] = _claims(item)
    return body


def _terms(
    texts: dict[str, str], languages: list[str], *, with_fallback: bool
) -> dict[str, dict[str, str]]:
    terms: dict[str, dict[str, str]] = {}
    for wanted in languages:
        chain = _FALLBACK.get(wanted, (wanted,)) if with_fallback else (wanted,)
        found = _first(texts, chain)
        if found:
            terms[wanted] = {"language": found[0], "value": found[1]}
            if found[0] != wanted:
                terms[wanted]["for-language"] = wanted
    return terms


def _claims(item: Item) -> dict[str, list[dict[str, object]]]:
    claims: dict[str, list[dict[str, object]]] = {}
    for each in item.statement:
        statement: dict[str, object] = {
            "mainsnak": {
                "snaktype": "value",
                "property": each.property,
                "datavalue": _datavalue(each),
            },
            "type": "statement",
            "rank": each.rank,
        }
        if each.as_of:
            moment = {"value": {"time": each.as_of, "precision": 9}, "type": "time"}
            statement["qualifiers"] = {"P585": [{"snaktype": "value", "datavalue": moment}]}
        claims.setdefault(each.property, []).append(statement)
    return claims


def _datavalue(said: Statement) -> dict[str, object]:
    entity = "http://www.wikidata.org/entity/"
    if said.item:
        value = {"entity-type": "item", "numeric-id": int(said.item[1:]), "id": said.item}
        return {"value": value, "type": "wikibase-entityid"}
    if said.amount:
        unit = said.unit if said.unit == "1" else entity + said.unit
        return {"value": {"amount": said.amount, "unit": unit}, "type": "quantity"}
    if said.time:
        calendar = f"{entity}Q1985727"
        when = {"time": said.time, "precision": said.precision, "calendarmodel": calendar}
        return {"value": {**when, "timezone": 0, "before": 0, "after": 0}, "type": "time"}
    return {"value": said.text, "type": "string"}


def _answer(body: dict[str, object], fields: dict[str, str], known: set[str]) -> Answer:
    unknown = ", ".join(sorted(fields.keys() - known))
    warnings = strange_values(fields, {"languages": _FALLBACK.keys()})
    warnings += [f"Unrecognized parameters: {unknown}."] if unknown else []
    if not warnings:
        return exchange.json(body)
    told = {"main": {"warnings": " ".join(warnings)}}
    return exchange.json({"warnings": told, **body}, complaint="; ".join(warnings))


def _error(code: str, info: str) -> Answer:
    answer = exchange.json({"error": {"code": code, "info": info}}, complaint=code)
    return msgspec.structs.replace(answer, headers={**answer.headers, "mediawiki-api-error": code})
