"""Where an operator's key goes into a request, and how it is kept out of everything else.

A request names the variable of its key; the value is read when it is sent, put in its place here, and lives as long as
the exchange. Some servers repeat a key in an error, a header or a redirect: it is taken out before anyone reads the
reply.
"""

from urllib.parse import quote

from msgspec.structs import replace
from pydantic import SecretStr
from signal_search.contracts.source import Request
from signal_search.errors import Broken

from infra.http import RawReply
from infra.outgoing import Outgoing
from workers.fetching.redaction import MARK

# Ours to set: who we are is not an adapter's choice, and secrets have a place of their own.
_RESERVED = frozenset({"user-agent", "host", "cookie", "authorization", "accept-encoding"})


def outgoing(request: Request, url: str, headers: dict[str, str], key: SecretStr) -> Outgoing:
    """Return what is sent for a request: our `headers`, those of the API, and the key in its place.

    Raises:
        Broken: the place of the key is none; rows are checked when they are read.
    """
    asked = {name.lower(): value for name, value in request.headers.items()}
    sent = headers | {name: value for name, value in asked.items() if name not in _RESERVED}
    if request.auth:
        url, sent = _with_key(request.auth_place, url, sent, key.get_secret_value())
    return Outgoing(
        url=url, headers=sent, method=request.method, body=request.body.encode("utf-8", "replace")
    )


def _with_key(
    place: str, url: str, headers: dict[str, str], key: str
) -> tuple[str, dict[str, str]]:
    kind, _colon, name = place.partition(":")
    if kind == "bearer":
        return url, {**headers, "authorization": f"Bearer {key}"}
    if kind == "header" and name:
        return url, {**headers, name.lower(): key}
    if kind == "query" and name:
        return f"{url}{'&' if '?' in url else '?'}{name}={quote(key, safe='')}", headers
    raise Broken


def without_key(raw: RawReply, url: str, key: SecretStr) -> RawReply:
    """Return a reply as if it had been sent without the key: under `url`, which holds none, and nowhere in it.

    A redirect that repeats the key leads nowhere: without it the address would be another one.
    """
    value = key.get_secret_value()
    if not value:
        return raw
    forms = {value, quote(value, safe=""), quote(value)}
    headers = {name: _cleaned(text, forms) for name, text in raw.headers.items()}
    if headers.get("location") != raw.headers.get("location"):
        headers["location"] = ""
    body = raw.body
    for form in forms:
        body = body.replace(form.encode(), MARK.encode())
    return replace(raw, url=url, headers=headers, body=body)


def _cleaned(text: str, forms: set[str]) -> str:
    for form in forms:
        text = text.replace(form, MARK)
    return text
