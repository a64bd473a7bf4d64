"""What the rows of generic adapters must say, and the short form in which operators may write their own.

A generic adapter (JSON API, OpenSearch, site search) knows nothing but its row: where the question goes and where the
answer is. A row that leaves that open is refused when it is read, not when it is asked.
"""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

GENERIC_ADAPTERS: Final = frozenset({"json_api", "opensearch", "site_search"})
FIELDS: Final = frozenset(
    {"url", "title", "snippet", "published", "authors", "doi", "container", "publisher", "language"}
)
BLANKS: Final = frozenset({"q", "limit", "from", "to", "lang", "language"})
_SWITCHES: Final = {"static": "json_api", "description": "opensearch", "keep": "site_search"}
_NUMBERS: Final = frozenset({"words", "follow"})
_TEXTS: Final = {
    "match": "site_search",
    "total": "json_api",
    "post": "json_api",
    "kind": "opensearch",
}
_FORMS: Final = {
    "json": ("json_api", "api"),
    "html": ("site_search", "web"),
    "atom": ("opensearch", "feed"),
    "rss": ("opensearch", "feed"),
}
_ACCESS: Final = {"keyless": "open", "keyed": "key"}
_TOKEN = re.compile(r"(?<=[?&])([A-Za-z][A-Za-z0-9_.-]{0,63})=\{token\}(?:&|$)")


def fault_of(
    adapter: str, endpoint: str, params: Mapping[str, str], mapped: Mapping[str, str]
) -> str:
    """Return what is wrong with a generic row, or nothing.

    mapped: its `item_map`; a JSON source without addresses for its results could not be cited.
    """
    blanks = set(re.findall(r"\{([^{}]*)\}", endpoint + params.get("post", "")))
    is_same_for_all = "true" in (params.get("static"), params.get("description"))
    if "{" in urlsplit(endpoint).netloc.replace("{language}", ""):
        return "the host of an endpoint is fixed"
    if not endpoint.isascii() or "#" in endpoint or not blanks <= BLANKS:
        return "an endpoint has the blanks {q}, {limit}, {from}, {to} and {lang}, and no others"
    if "q" not in blanks and not is_same_for_all:
        return "an endpoint says with {q} where the question goes"
    if adapter == "json_api" and not {"url", "title"} <= mapped.keys() <= FIELDS:
        return "item_map names url, title and other fields of ours"
    return _fault_of_params(adapter, params)


def _fault_of_params(adapter: str, params: Mapping[str, str]) -> str:
    for name, value in params.items():
        if name in _NUMBERS and value.isdecimal() and len(value) < 4:
            continue
        if _SWITCHES.get(name) == adapter and value in {"true", "false"}:
            continue
        if _TEXTS.get(name) == adapter and _compiles(value):
            continue
        return "params are settings of the adapter"
    return ""


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


def spelled_out(row: Mapping[str, object]) -> dict[str, object]:
    """Return an operator's row in the catalogue's terms; what is given in those already is kept.

    The short form: `url_template` with `{q}`, and `{token}` where the key goes; `response` json (the default), html,
    atom or rss; `static`; `auth = "bearer"`. Its defaults: internal, quality B, asked whatever the topic, with a key
    when `key_env` is named.
    """
    full: dict[str, Any] = {"source_type": "internal", "quality": "B", **row}
    if full.get("key_env"):
        full.setdefault("access", "key")
    if full.get("access") in _ACCESS:
        full["access"] = _ACCESS[full["access"]]
    if not isinstance(full.get("url_template"), str) or "endpoint" in full:
        return full
    return _of_template(full)


def _of_template(full: dict[str, Any]) -> dict[str, object]:
    template = full.pop("url_template")
    adapter, kind = _FORMS.get(full.pop("response", "json"), ("", ""))
    params = {**full.pop("params", {})}
    if full.pop("static", False):
        params["static"] = "true"
    if full.get("method") == "rest":
        del full["method"]
    if full.get("auth") == "bearer":
        del full["auth"]
    token = _TOKEN.search(template)
    if token and full.get("key_env"):
        full.setdefault("key_place", f"query:{token[1]}")
        template = _TOKEN.sub("", template).rstrip("?&")
    derived = {"adapter": adapter, "kind": kind, "force_include": True, "name": full.get("id", "")}
    return {**derived, **full, "endpoint": template, "params": params}
