"""Writing settings back to signal-search.toml: checked as a whole first, then replaced at once, comments kept.

A secret is never written: neither one of the secret settings nor an address with a password in it.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Lock
from typing import Any, Final

import tomlkit
from msgspec import Struct
from pydantic import ValidationError
from signal_search.errors import Conflict, Invalid
from tomlkit.exceptions import TOMLKitError

from infra.manifest import at, has_credentials, secrets, shown
from infra.settings import LOCAL, Settings, load

Json = dict[str, Any]
_WRITING: Final = Lock()


class Change(Struct, frozen=True, kw_only=True):
    """What was written. overridden: names whose value a variable of the environment replaces all the same."""

    changed: tuple[str, ...]
    overridden: tuple[str, ...]
    config: Json


def write_settings(patch: Mapping[str, Any], path: Path = LOCAL) -> Change:
    """Write some settings; a dotted name or nested tables name them, null takes one back to its default.

    Returns what the settings will be after a restart.

    Raises:
        Invalid: `field` is the first setting that is unknown, out of its bounds or a secret; nothing is written.
        Conflict: the file that is there is not TOML.
    """
    wanted = dict(_flat(patch))
    for name, value in wanted.items():
        _refuse_secret(name, value)
    with _WRITING:
        document = _read(path)
        checked = _checked({name: each for name, each in wanted.items() if each is not None})
        for name, value in wanted.items():
            _put(document, name, None if value is None else _written(checked, name))
        _check_file(document)
        _replace(path, tomlkit.dumps(document))
    return _change(wanted, checked)


def _flat(patch: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each setting that is named with its value; a table that is itself a setting comes as its parts."""
    for name, value in patch.items():
        dotted = f"{path}{name}"
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{dotted}.")
        else:
            yield dotted, value


def _refuse_secret(name: str, value: object) -> None:
    if name in secrets() or name.endswith(".api_key") or has_credentials(value):
        raise Invalid("A secret comes from the environment only.", field=_shown_name(name))


def _checked(wanted: Json) -> Settings:
    nested: Json = {}
    for name, value in wanted.items():
        *sections, last = name.split(".")
        table = nested
        for each in sections:
            table = table.setdefault(each, {})
        table[last] = value
    try:
        return load(**nested)
    except ValidationError as error:
        raise _invalid(error) from None


def _invalid(error: ValidationError) -> Invalid:
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    name = _shown_name(".".join(map(str, first["loc"])))
    return Invalid(f"{first['msg']}.", field=name)


def _shown_name(name: str) -> str | None:
    """Return the part of a name that is a setting's: the rest is input, which is not repeated."""
    known: Json = dict(Settings.model_fields)
    parts = name.split(".")
    if parts[0] not in known:
        return None
    kind = known[parts[0]].annotation
    fields = getattr(kind, "model_fields", {})
    return ".".join(parts[:2]) if len(parts) > 1 and parts[1] in fields else parts[0]


def _written(settings: Settings, name: str) -> object:
    try:
        return at(settings.model_dump(mode="json", exclude_none=True), name)
    except (KeyError, TypeError):
        raise Invalid("There is no such setting.", field=_shown_name(name)) from None


def _read(path: Path) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return tomlkit.document()
    except (TOMLKitError, UnicodeDecodeError) as error:
        raise Conflict("The settings file is not valid TOML; correct it by hand first.") from error


def _put(document: tomlkit.TOMLDocument, name: str, value: object) -> None:
    *sections, last = name.split(".")
    table: Any = document
    for each in sections:
        if value is None and each not in table:
            return
        table = table.setdefault(each, tomlkit.table())
    if value is None:
        table.pop(last, None)
    else:
        table[last] = value


def _check_file(document: tomlkit.TOMLDocument) -> None:
    """Refuse what would keep the next start from coming up, whatever this process was started with."""
    try:
        load(**document.unwrap())
    except ValidationError as error:
        raise _invalid(error) from None


def _replace(path: Path, text: str) -> None:
    """Replace the file whole, so that a reader sees the old or the new one."""
    with NamedTemporaryFile(
        "w", dir=path.parent, prefix=".settings-", delete=False, encoding="utf-8"
    ) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    written = Path(file.name)
    written.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o600)
    written.replace(path)


def _change(wanted: Json, checked: Settings) -> Change:
    after = shown(load())
    meant = shown(checked)
    overridden = [
        name
        for name, value in wanted.items()
        if value is not None and _found(after, name) != _found(meant, name)
    ]
    return Change(changed=tuple(wanted), overridden=tuple(overridden), config=after)


def _found(tree: Json, name: str) -> object:
    try:
        return at(tree, name)
    except (KeyError, TypeError):
        return None
