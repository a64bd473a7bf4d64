"""Writing settings back to signal-search.toml: checked as a whole first, then replaced at once, comments kept.

A secret is never written: neither one of the secret settings nor an address with a password in it.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
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
Name = tuple[str, ...]
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
        Conflict: the file that is there is not TOML, or cannot be written.
    """
    wanted = dict(_named(patch))
    for name, value in wanted.items():
        _refuse_secret(name, value)
    with _WRITING:
        document = _read(path)
        checked = _checked({name: each for name, each in wanted.items() if each is not None})
        for name, value in wanted.items():
            _put(document, name, None if value is None else _written(checked, name))
        _check_file(document)
        _replace(path, tomlkit.dumps(document).lstrip("\n"))
    return _change(wanted, checked)


def _named(patch: Mapping[str, Any]) -> Iterator[tuple[Name, Any]]:
    """Yield each setting that is named; only a name at the top is dotted, those of tables may hold dots (hosts)."""
    for name, value in patch.items():
        yield from _parts(tuple(name.split(".")), value)


def _parts(name: Name, value: Any) -> Iterator[tuple[Name, Any]]:
    if not isinstance(value, dict) or not value:
        yield name, value
        return
    for each, inner in value.items():
        yield from _parts((*name, each), inner)


def _refuse_secret(name: Name, value: object) -> None:
    if ".".join(name) in secrets() or name[-1] == "api_key" or has_credentials(value):
        raise Invalid("A secret comes from the environment only.", field=_shown_name(name))


def _checked(wanted: Mapping[Name, Any]) -> Settings:
    nested: Json = {}
    for (*sections, last), value in wanted.items():
        table = nested
        for each in sections:
            table = table.setdefault(each, {})
            if not isinstance(table, dict):
                raise Invalid("One setting is named twice.", field=_shown_name((*sections, last)))
        table[last] = value
    try:
        return load(**nested)
    except ValidationError as error:
        raise _invalid(error) from None


def _invalid(error: ValidationError) -> Invalid:
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    return Invalid(f"{first['msg']}.", field=_shown_name(tuple(map(str, first["loc"]))))


def _shown_name(name: Name) -> str | None:
    """Return the part of a name that is a setting's: the rest is input, which is not repeated."""
    known: Json = dict(Settings.model_fields)
    if name[0] not in known:
        return None
    fields = getattr(known[name[0]].annotation, "model_fields", {})
    return ".".join(name[:2]) if len(name) > 1 and name[1] in fields else name[0]


def _written(settings: Settings, name: Name) -> object:
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


def _put(document: tomlkit.TOMLDocument, name: Name, value: object) -> None:
    *sections, last = name
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
    written: Path | None = None
    try:
        with NamedTemporaryFile(
            "w", dir=path.parent, prefix=".settings-", delete=False, encoding="utf-8"
        ) as file:
            written = Path(file.name)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        written.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o600)
        written.replace(path)
    except OSError as error:
        if written is not None:
            with suppress(OSError):
                written.unlink()
        raise Conflict("The settings file cannot be written.") from error


def _change(wanted: Mapping[Name, Any], checked: Settings) -> Change:
    after = shown(load())
    meant = shown(checked)
    overridden = [
        name
        for name, value in wanted.items()
        if value is not None and _found(after, name) != _found(meant, name)
    ]
    return Change(
        changed=tuple(map(".".join, wanted)),
        overridden=tuple(map(".".join, overridden)),
        config=after,
    )


def _found(tree: Json, name: Name) -> object:
    try:
        return at(tree, name)
    except (KeyError, TypeError):
        return None
