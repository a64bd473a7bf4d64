"""The items of a Wikibase reply and the best values of their properties. A map that is empty is sent as a list."""

import re

import msgspec
from msgspec import Struct, field

from workers.records import line

ITEM = re.compile(r"[QP][1-9][0-9]{0,11}")
TIME = re.compile(r"([+-])0*([0-9]{1,16})-([0-9]{2})-([0-9]{2})T")
_MAX_VALUES = 3
_DISAMBIGUATION = "Q4167410"
_POINT_IN_TIME = "P585"


class Error(Struct):
    code: str = ""


class Hit(Struct):
    id: str


class Term(Struct):
    value: str = ""
    language: str = ""


class Value(Struct):
    """A data value of any type; only the parts of its own type are set."""

    id: str = ""
    time: str = ""
    precision: int = 0
    amount: str = ""
    unit: str = ""
    text: str = ""


class DataValue(Struct):
    type: str = ""
    value: object = None


class Snak(Struct):
    datavalue: DataValue | None = None


class Statement(Struct):
    mainsnak: Snak = field(default_factory=Snak)
    rank: str = "normal"
    qualifiers: object = None


class Entity(Struct):
    """An item or property. Empty maps are sent as empty lists, so each map is read apart."""

    id: str = ""
    labels: object = None
    descriptions: object = None
    aliases: object = None
    claims: object = None
    modified: str = ""
    lastrevid: int = 0


class Body(Struct):
    error: Error | None = None
    search: list[Hit] | None = None
    entities: dict[str, Entity] | None = None


def _term(terms: object) -> Term:
    """Return the one term of a map of languages; the fallback of the API has chosen it."""
    try:
        found = msgspec.convert(terms, dict[str, Term])
    except msgspec.ValidationError:
        return Term()
    return next(iter(found.values()), Term())


def about(entity: Entity, language: str) -> str:
    """Return the description if it is in the language, or in a script or region of it; a name may be in another."""
    found = _term(entity.descriptions)
    return line(found.value) if found.language.partition("-")[0] in {"", language} else ""


def aliases(entity: Entity) -> list[str]:
    """Return the first five other names, in whatever languages were asked for."""
    try:
        found = msgspec.convert(entity.aliases, dict[str, list[Term]])
    except msgspec.ValidationError:
        return []
    return [line(term.value) for terms in found.values() for term in terms][:5]


def label(entity: Entity) -> str:
    """Return the name, as the API chose its language; "" when there is none."""
    return line(_term(entity.labels).value)


def is_thing(entity: Entity) -> bool:
    """Return whether it is an item with a name, and no page that tells things of one name apart."""
    kinds = {value.id for value, _as_of in values(entity, "P31")}
    return bool(ITEM.fullmatch(entity.id) and label(entity) and _DISAMBIGUATION not in kinds)


def values(entity: Entity, prop: str) -> list[tuple[Value, str]]:
    """Return the best values of a property, each with the year it is of: preferred ones alone if there are any."""
    try:
        found = msgspec.convert(entity.claims, dict[str, object]).get(prop)
        statements = msgspec.convert(found or [], list[Statement])
    except msgspec.ValidationError:
        return []
    best = [each for each in statements if each.rank == "preferred"]
    usable = best or [each for each in statements if each.rank == "normal"]
    read = ((_value(each.mainsnak), _as_of(each)) for each in usable[:_MAX_VALUES])
    return [(value, as_of) for value, as_of in read if value is not None]


def _value(snak: Snak) -> Value | None:
    raw = snak.datavalue.value if snak.datavalue else None
    try:
        return Value(text=raw) if isinstance(raw, str) else msgspec.convert(raw, Value)
    except msgspec.ValidationError:
        return None


def _as_of(statement: Statement) -> str:
    try:
        snaks = msgspec.convert(statement.qualifiers, dict[str, list[Snak]]).get(_POINT_IN_TIME, [])
    except msgspec.ValidationError:
        return ""
    moment = _value(snaks[0]) if snaks else None
    found = TIME.match(moment.time) if moment else None
    return found[2] if found and found[1] == "+" else ""
