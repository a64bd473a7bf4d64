"""robots.txt against public case files: google/robotstxt's own expectations and RFC 9309 cases (ROBOTS_DIR)."""

import json
import os
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from workers.fetching.robots import MAX_LINE_BYTES, parse

ROOT = Path(__file__).parents[2]
FOLDER = Path(os.environ.get("ROBOTS_DIR", ROOT / "../shared/data/robots"))
DEVIATIONS = tomllib.loads((Path(__file__).parent / "deviations.toml").read_text())["robots"][
    "cases"
]
FILES = sorted(FOLDER.glob("*.json"))


def _cases() -> list[Any]:
    return [
        pytest.param(case, f"{path.stem}:{_name(case)}:{at}", id=f"{path.stem}-{at}-{_name(case)}")
        for path in FILES
        for at, case in enumerate(json.loads(path.read_text()))
    ]


def _name(case: dict[str, Any]) -> str:
    """Return what the file calls a case; a file of the same format need not."""
    return str(case.get("test", "case"))


def _deviates(case: dict[str, Any]) -> bool:
    return any(
        _name(case) == each["test"]
        and case["url"].endswith(each["url_ends"])
        and case["robots"].rstrip().endswith(each["robots_ends"])
        and case["allowed"] != each["ours"]
        for each in DEVIATIONS
    )


@pytest.mark.skipif(not FILES, reason=f"no case files: set ROBOTS_DIR (looked in {FOLDER.name})")
@pytest.mark.parametrize(("case", "name"), _cases() or [pytest.param({}, "", id="absent")])
def test_case(case: dict[str, Any], name: str) -> None:
    body = case["robots"].encode("utf-8", "surrogateescape")
    allowed = parse(body).check(case["agent"], case["url"]).allowed
    assert allowed == (case["allowed"] ^ _deviates(case)), name


@pytest.mark.skipif(not FILES, reason="no case files: set ROBOTS_DIR")
def test_no_more_than_the_documented_deviations() -> None:
    for path in FILES:
        deviating = [case for case in json.loads(path.read_text()) if _deviates(case)]
        assert len(deviating) <= len(DEVIATIONS), path.stem


@given(st.binary(max_size=4000), st.text(max_size=200))
@example(b"User-agent: *\nDisallow: /\x00%zz%2", "http://[::1\ud800/%")
@settings(deadline=None)
def test_random_bytes_never_raise(body: bytes, url: str) -> None:
    decision = parse(body).check("SignalSearchBot", url)
    assert decision.allowed or decision.line


_LINES = st.sampled_from(
    [
        b"User-agent: *",
        b"User-agent: a",
        b"Disallow: /a*b$",
        b"Allow: /%41",
        b"Disallow:",
        b"\xff",
        b"x",
        b"Crawl-delay: 3",
        b"Sitemap: http://h/s",
        b"disallow /c",
        b"",
        b"#",
        b"Allow: /*/index.html",
    ]
)


@given(st.lists(_LINES, max_size=40), st.sampled_from([b"\n", b"\r", b"\r\n"]))
@settings(deadline=None)
def test_line_ends_do_not_matter(lines: list[bytes], end: bytes) -> None:
    assert parse(end.join(lines)) == parse(b"\n".join(lines))


def _seconds(body: bytes, url: str) -> float:
    started = time.process_time()
    parse(body).check("SignalSearchBot", url)
    return time.process_time() - started


HOSTILE = {
    "stars": lambda n: b"User-agent: *\nDisallow: /" + b"*a" * (MAX_LINE_BYTES // 4) + b"b\n" * n,
    "agents": lambda n: b"User-agent: bot\n" * n + b"Disallow: /x\n" * n,
    "groups": lambda n: b"User-agent: *\nDisallow: /b\n" * n,
    "percents": lambda n: b"User-agent: *\nDisallow: /" + b"%" * n * 20,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_files_take_linear_time(kind: str) -> None:
    """Eight times the size may take about eight times the time, never sixty-four (protego 0.6.1 took 10x per star)."""
    url = "http://h/" + "a" * 2000
    small = min(_seconds(HOSTILE[kind](1000), url) for _ in range(3))
    large = min(_seconds(HOSTILE[kind](8000), url) for _ in range(3))
    assert large < 24 * small + 0.02


def test_random_megabyte_is_read_at_once() -> None:
    body = bytes(range(256)) * 4096
    assert min(_seconds(body, "http://h/x") for _ in range(3)) < 0.5
