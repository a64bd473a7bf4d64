"""datatracker.ietf.org: documents by the REST API; www.rfc-editor.org: the texts of RFCs.

Strict as Tastypie is: a filter on a field that has none is 400 with `error`, and so is a limit that is no number; one
beyond a thousand is cut. No rate is published.
"""

import html
import re
import tomllib
from functools import lru_cache

import msgspec
from msgspec import Struct

from infra.loopback_web import exchange
from infra.loopback_web.corpus import FOLDER
from infra.loopback_web.exchange import Answer, Ask

_PLAIN = {"limit", "offset", "format", "order_by"}
_FILTERS = {"name", "name__contains", "type", "title", "title__icontains", "title__contains"}
_FILTERS |= {"abstract__icontains", "rfc_number"}
_MAX_LIMIT = 1000
_LIST = "/api/v1/doc/document/"
_TEXT = re.compile(r"/rfc/rfc(\d{1,5})\.(txt|html)")
_INFO = re.compile(r"/info/rfc(\d{1,5})")


class Rfc(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A specification; `level` is the Datatracker's short name of a status, `changed` the record's last change."""

    number: int
    title: str
    abstract: str
    pages: int
    level: str
    changed: str
    text: str


@lru_cache(maxsize=1)
def rfcs() -> tuple[Rfc, ...]:
    """Return all specifications."""
    rows = tomllib.loads((FOLDER / "rfcs.toml").read_text("utf-8"))["rfc"]
    return msgspec.convert(rows, tuple[Rfc, ...])


def datatracker(ask: Ask) -> Answer:
    """Answer for datatracker.ietf.org."""
    if ask.method not in {"GET", "HEAD"}:
        return exchange.method_not_allowed("GET", "HEAD")
    if ask.path != _LIST:
        return exchange.page("<html><body><h1>404</h1></body></html>", status=404)
    fields = ask.fields
    for name in sorted(fields.keys() - _PLAIN - _FILTERS):
        field = name.partition("__")[0]
        return _refused(f"The '{field}' field does not allow filtering.")
    limit, offset = fields.get("limit", "20"), fields.get("offset", "0")
    if not (limit.isdecimal() and offset.isdecimal()):
        return _refused("Invalid limit provided. Please provide a positive integer.")
    if fields.get("format", "json") != "json":
        return _refused("The format indicated 'format' had no available serialization method.")
    return _listed(fields, min(int(limit) or _MAX_LIMIT, _MAX_LIMIT), int(offset))


def _listed(fields: dict[str, str], limit: int, offset: int) -> Answer:
    found = [each for each in rfcs() if _passes(each, fields)]
    more = f"{_LIST}?offset={offset + limit}" if offset + limit < len(found) else None
    meta: dict[str, object] = {"limit": limit, "next": more, "offset": offset, "previous": None}
    meta["total_count"] = len(found)
    shown = found[offset : offset + limit]
    return exchange.json({"meta": meta, "objects": [_object(each) for each in shown]})


def _passes(rfc: Rfc, fields: dict[str, str]) -> bool:
    return (
        fields.get("type", "rfc") == "rfc"
        and fields.get("name", f"rfc{rfc.number}") == f"rfc{rfc.number}"
        and fields.get("rfc_number", str(rfc.number)) == str(rfc.number)
        and fields.get("title__icontains", "").lower() in rfc.title.lower()
        and fields.get("abstract__icontains", "").lower() in rfc.abstract.lower()
    )


def _object(rfc: Rfc) -> dict[str, object]:
    return {
        "abstract": rfc.abstract,
        "expires": None,
        "id": rfc.number,
        "name": f"rfc{rfc.number}",
        "pages": rfc.pages,
        "resource_uri": f"{_LIST}rfc{rfc.number}/",
        "rfc_number": rfc.number,
        "std_level": f"/api/v1/name/stdlevelname/{rfc.level}/",
        "stream": "/api/v1/name/streamname/ietf/",
        "time": rfc.changed,
        "title": rfc.title,
        "type": "/api/v1/name/doctypename/rfc/",
    }


def _refused(message: str) -> Answer:
    return exchange.json({"error": message}, status=400, complaint=message)


def editor(ask: Ask) -> Answer:
    """Answer for www.rfc-editor.org."""
    if ask.method not in {"GET", "HEAD"}:
        return exchange.method_not_allowed("GET", "HEAD")
    if ask.path == "/robots.txt":
        return exchange.text("User-agent: *\nAllow: /\n")
    asked = _TEXT.fullmatch(ask.path) or _INFO.fullmatch(ask.path)
    found = next((each for each in rfcs() if asked and str(each.number) == asked[1]), None)
    if found is None:
        return exchange.page("<html><body><h1>404 Not Found</h1></body></html>", status=404)
    if ask.path.endswith(".txt"):
        return exchange.text(found.text.strip() + "\n")
    return exchange.page(_html(found))


def _html(rfc: Rfc) -> str:
    title = html.escape(f"RFC {rfc.number}: {rfc.title}")
    body = "".join(f"<p>{html.escape(part)}</p>" for part in rfc.text.strip().split("\n\n")[1:])
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>'
        f"<body><main><h1>{title}</h1>{body}</main></body></html>"
    )
