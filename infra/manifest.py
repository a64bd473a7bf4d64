"""Every setting as data, for the page of an administrator: what it is, its bounds, its default and what it is now.

Secrets are masked, also those in addresses. All settings are read when a process starts, so all need a restart.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from infra.settings import DEFAULTS, Settings

MASK = "**********"
"""What stands for a secret that is set."""

_COMMENT = re.compile(r"^(?P<name>[A-Za-z0-9_]+)\s*=\s*[^#]*?(#\s*(?P<comment>.*))?$")
_SECTION = re.compile(r"^\[(?P<name>[A-Za-z0-9_.]+)\]\s*(#\s*(?P<comment>.*))?$")
_CREDENTIALS = re.compile(r"(://[^/?#@:\s]*):[^/?#@\s]*@")
_BOUNDS = {
    "minimum": "minimum",
    "maximum": "maximum",
    "exclusiveMinimum": "exclusive_minimum",
    "exclusiveMaximum": "exclusive_maximum",
    "minLength": "min_length",
    "maxLength": "max_length",
    "pattern": "pattern",
    "enum": "choices",
}
_GENERAL = "general"
Json = dict[str, Any]


class SettingView(Struct, frozen=True, kw_only=True):
    """One setting. `type` and `bounds` are JSON Schema's; `default` and `value` are masked where they are secret."""

    name: str
    group: str
    type: str
    bounds: Json
    default: object
    value: object
    description: str
    needs_restart: bool = True
    is_secret: bool = False


def manifest(settings: Settings) -> tuple[SettingView, ...]:
    """Return every setting, in the order of the sections."""
    now, defaults = shown(settings), _defaults()
    return tuple(_view(name, schema, now, defaults) for name, schema in _leaves())


def shown(settings: Settings) -> Json:
    """Return the settings as nested JSON values, secrets masked."""
    dumped: Json = _masked(settings.model_dump(mode="json", exclude_none=True))
    return dumped


def secrets() -> frozenset[str]:
    """Return the dotted names of the settings that come from the environment only."""
    return frozenset(name for name, schema in _leaves() if _is_secret(schema))


def has_credentials(value: object) -> bool:
    """Return whether a value holds an address with a password in it, at any depth."""
    return bool(_masked(value) != value)


def at(tree: Mapping[str, Any], name: Sequence[str]) -> object:
    """Return what stands at a name, given in its parts; raises KeyError or TypeError when nothing does."""
    value: Any = tree
    for part in name:
        value = value[part]
    return value


def _view(name: str, schema: Json, now: Json, defaults: Json) -> SettingView:
    is_secret = _is_secret(schema)
    return SettingView(
        name=name,
        group=_group(name),
        type=schema.get("type", "object"),
        bounds={_BOUNDS[key]: value for key, value in schema.items() if key in _BOUNDS},
        default="" if is_secret else at(defaults, name.split(".")),
        value=at(now, name.split(".")),
        description=comments().get(name, ""),
        is_secret=is_secret,
    )


def _group(name: str) -> str:
    section, _, field = name.partition(".")
    if not field:
        return _GENERAL
    return "scoring" if section == "search" and field.startswith("scorer_") else section


def _is_secret(schema: Json) -> bool:
    return schema.get("format") == "password"


@cache
def _leaves() -> tuple[tuple[str, Json], ...]:
    schema = Settings.model_json_schema()
    return tuple(_walk(schema, schema.get("$defs", {}), ""))


def _walk(schema: Json, named: Json, path: str) -> Iterator[tuple[str, Json]]:
    for name, field in schema["properties"].items():
        reference = field.get("$ref", "").rpartition("/")[2]
        if reference and "properties" in named[reference]:
            yield from _walk(named[reference], named, f"{path}{name}.")
        else:
            yield f"{path}{name}", field


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return _CREDENTIALS.sub(rf"\1:{MASK}@", value)
    if isinstance(value, list):
        return [_masked(each) for each in value]
    if isinstance(value, dict):
        return {name: _masked(each) for name, each in value.items()}
    return value


@cache
def _defaults() -> Json:
    return tomllib.loads(DEFAULTS.read_text(encoding="utf-8"))


@cache
def comments() -> dict[str, str]:
    """Return the comment that stands beside a setting in defaults.toml, by dotted name."""
    found: dict[str, str] = {}
    section = ""
    for line in DEFAULTS.read_text(encoding="utf-8").splitlines():
        heading, setting = _SECTION.match(line), _COMMENT.match(line)
        match = heading or setting
        if heading:
            section = heading["name"] + "."
        name = section.rstrip(".") if heading else f"{section}{setting['name']}" if setting else ""
        if match and match["comment"]:
            found[name] = match["comment"]
    return found
