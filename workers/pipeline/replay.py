"""Fold a job again from its bundle, without network or Redis: the same figures must give the same result, bit for bit.

With other figures it shows what they would have changed. A debugger, an evaluation harness and an audit trail in one.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct
from signal_search.contracts.outcome import AnyResult
from signal_search.contracts.trace import Planned
from signal_search.errors import Conflict, Invalid

from infra.bundle import Bundle
from infra.ids import digest
from workers.pipeline.kinds import strategy_of
from workers.pipeline.rules import Rules, from_log, to_log
from workers.pipeline.state import fold

_SHOWN = 120


class Difference(Struct, frozen=True, kw_only=True):
    """One place where the replayed result differs; values as JSON, cut to a readable length."""

    path: str
    before: str
    after: str


class Replay(Struct, frozen=True, kw_only=True):
    """A replayed result. `same` compares the encoded bytes with those of the original."""

    job_id: str
    same: bool
    digest: str
    result: AnyResult
    differences: tuple[Difference, ...]


def replay(bundle: Bundle, changes: Mapping[str, Any] | None = None) -> Replay:
    """Publish a bundle again; `changes` replaces figures by dotted name, such as `sba.weights.recency`.

    Raises:
        Conflict: the job had not stopped, so there is nothing to publish.
        Invalid: `changes` names no figure, or gives a wrong value; or the bundle's own figures are of another version.
    """
    view = fold(entry for _id, entry in bundle.entries)
    if view.stopped is None or view.planned is None:
        raise Conflict("This job did not come to an answer; there is nothing to replay.")
    rules = changed(_rules_of(view.planned), changes or {})
    result = strategy_of(bundle.spec).publish(
        view, {each.doc_id: each for each in bundle.documents}, rules
    )
    raw = msgspec.json.encode(result)
    return Replay(
        job_id=bundle.spec.id,
        same=raw == bundle.result,
        digest=digest(raw),
        result=result,
        differences=_differences(bundle.result, raw),
    )


def _rules_of(planned: Planned) -> Rules:
    try:
        return from_log(planned.rules)
    except msgspec.ValidationError as error:
        raise Invalid("The figures in this bundle are of another version.") from error


def changed(rules: Rules, changes: Mapping[str, Any]) -> Rules:
    """Return rules with some figures replaced.

    Raises:
        Invalid: a name that is no figure, or a value of the wrong type.
    """
    plain = to_log(rules)
    for name, value in changes.items():
        _set(plain, name, value)
    try:
        return from_log(plain)
    except msgspec.ValidationError as error:
        raise Invalid("A figure has a value of the wrong type.", field="set") from error


def _set(plain: dict[str, Any], name: str, value: object) -> None:
    *path, last = name.split(".")
    place: Any = plain
    for part in path:
        place = place.get(part) if isinstance(place, dict) else None
    if not isinstance(place, dict) or last not in place:
        raise Invalid("There is no figure of that name.", field="set")
    place[last] = value


def _differences(before: bytes, after: bytes) -> tuple[Difference, ...]:
    if not before:
        return ()
    found: list[Difference] = []
    _compare("", msgspec.json.decode(before), msgspec.json.decode(after), found)
    return tuple(found)


def _compare(path: str, before: Any, after: Any, found: list[Difference]) -> None:
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            _compare(f"{path}.{key}".lstrip("."), before.get(key), after.get(key), found)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for at, pair in enumerate(zip(before, after, strict=True)):
            _compare(f"{path}[{at}]", *pair, found)
    else:
        found.append(Difference(path=path, before=_shown(before), after=_shown(after)))


def _shown(value: object) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
