"""What the emulated wikis share of the Action API: parameters of the main module, and choices out of fixed values."""

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z]{2,8})*|user|content")


def main_fault(fields: dict[str, str]) -> tuple[str, str]:
    """Return code and sentence of what is wrong with the parameters that every module takes, or nothing."""
    if not fields.get("maxlag", "5").removeprefix("-").isdecimal():
        return "badinteger", 'Invalid value for integer parameter "maxlag".'
    if fields.get("formatversion", "2") != "2":
        return "badvalue", 'This emulator speaks "formatversion" 2 only.'
    if not _LANGUAGE.fullmatch(fields.get("uselang", "en")):
        return "badvalue", 'Unrecognized value for parameter "uselang".'
    return "", ""


def strange_values(fields: dict[str, str], choices: Mapping[str, AbstractSet[str]]) -> list[str]:
    """Return a warning for each parameter that holds a value of none of its choices; the API leaves such values out."""
    held = {name: set(filter(None, fields.get(name, "").split("|"))) for name in choices}
    return [
        f'Unrecognized value for parameter "{name}": {", ".join(sorted(held[name] - choices[name]))}'
        for name in choices
        if held[name] - choices[name]
    ]
