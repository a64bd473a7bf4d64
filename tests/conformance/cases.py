"""The case files: one pytest case for each entry of a file, or one skipped case that says why there are none."""

import json
import os
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = Path(os.environ.get("CONFORMANCE_DIR", ROOT / "../shared/data/conformance"))
_DEVIATIONS = Path(__file__).with_name("deviations.toml")

Case = dict[str, Any]


def params(name: str, *, functions: Collection[str], later: Mapping[str, str]) -> list[Any]:
    """Return the cases of one file. An area that neither a function nor `later` names fails by name.

    A case of `later` and a case in deviations.toml is skipped with the reason given there.
    """
    path = FOLDER / name
    if not path.is_file():
        reason = f"no {name}: set CONFORMANCE_DIR"
        return [pytest.param({}, id=name, marks=pytest.mark.skip(reason=reason))]
    kept = deviations(path.stem)
    return [_param(case, functions, later, kept) for case in json.loads(path.read_text())["cases"]]


def deviations(section: str) -> Mapping[str, str]:
    """Return the reasons of the cases that are answered otherwise on purpose."""
    found: Mapping[str, str] = tomllib.loads(_DEVIATIONS.read_text()).get(section, {})
    return found


def _param(
    case: Case, functions: Collection[str], later: Mapping[str, str], kept: Mapping[str, str]
) -> Any:
    area = case["area"]
    reason = kept.get(case["id"]) or (later.get(area) if area not in functions else None)
    marks = [pytest.mark.skip(reason=reason)] if reason else []
    return pytest.param(case, id=f"{case['id']}-{area}", marks=marks)
