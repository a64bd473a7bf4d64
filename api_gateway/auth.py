"""Who is at the door: a bearer token's tenant, or the machine's own user while no token is configured.

Fails closed. Tokens once seen keep the door locked: a tokens file that vanishes lets nobody in.
"""

import logging
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from signal_search.errors import Forbidden, Invalid, NotFound, Unauthorized

from api_gateway.asgi import Scope, header
from api_gateway.paths import is_admin, is_form_search, is_research
from infra.tokens import SCOPES, Principal, TokenStore

_LOG = logging.getLogger(__name__)

LOCAL_TENANT = "local"
LOCAL = Principal(tenant=LOCAL_TENANT, scopes=SCOPES)
# Next to the store, not over HTTP: whoever is there could read the files of the memory as well.
OWN_MACHINE = Principal(tenant=LOCAL_TENANT, scopes=SCOPES, every_scope=True)
READING = frozenset({"GET", "HEAD", "OPTIONS"})
_PROXY_MARKS = (b"x-forwarded-for", b"forwarded", b"via")
_OTHER_SITES = frozenset({"cross-site", "same-site"})
Stamp = tuple[int, int, int]


class Gate:
    """Admits callers by the tokens file, which is read again when it changes: a revoked token ends at once."""

    def __init__(self, tokens_file: Path) -> None:
        """Read the file; a missing one means that no token is configured.

        Raises:
            Invalid: when the file is not a tokens file.
        """
        self._path = tokens_file
        self._stamp = _stamp(tokens_file)
        self._tokens = TokenStore.load(tokens_file)
        self._is_locked = bool(self._tokens.records)

    @property
    def is_locked(self) -> bool:
        """Whether a token is needed to come in."""
        self._refresh()
        return self._is_locked

    def admit(self, scope: Scope) -> Principal:
        """Return who calls.

        Raises:
            Unauthorized: no valid token, or no token configured and the caller is not on this machine.
            Forbidden: the token's scopes do not include what the method does.
        NotFound: an address of research memory, and the token has no scope of it.
        """
        principal = self.find(_bearer(scope)) if self.is_locked else _neighbour(scope)
        if _needed(scope) not in principal.scopes:
            raise Forbidden
        if is_research(scope) and not principal.research:
            raise NotFound  # whatever the method and the body: to such a caller there is no such memory
        return principal

    def find(self, token: str | None) -> Principal:
        """Return who holds the token, or raise Unauthorized."""
        self._refresh()
        found = self._tokens.find(token) if token else None
        if found is None:
            raise Unauthorized
        return found

    def _refresh(self) -> None:
        stamp = _stamp(self._path)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._tokens = TokenStore.load(self._path)
        except Invalid:
            _LOG.error("the tokens file is not valid; the tokens read before stay in force")
        self._is_locked = self._is_locked or bool(self._tokens.records)


def _needed(scope: Scope) -> str:
    if is_admin(scope):
        return "admin"
    if is_form_search(scope):  # it makes a job, whatever its method
        return "write"
    return "read" if scope["method"] in READING else "write"


def _stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _bearer(scope: Scope) -> str | None:
    scheme, _, token = (header(scope, b"authorization") or "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _neighbour(scope: Scope) -> Principal:
    # The Host check stops a web page that rebinds its own name to a loopback address; and a proxy on this machine
    # speaks for callers who need not be on it.
    peer = scope.get("client")
    is_near = peer is None or is_loopback(peer[0])
    is_proxied = any(header(scope, name) is not None for name in _PROXY_MARKS)
    if not is_near or is_proxied or not is_loopback(_host_name(scope)):
        raise Unauthorized
    if is_form_search(scope) and header(scope, b"sec-fetch-site") in _OTHER_SITES:
        raise Unauthorized  # a form needs no leave of the browser: any page could have this machine search
    return LOCAL


def _host_name(scope: Scope) -> str:
    try:
        return urlsplit(f"//{header(scope, b'host') or ''}").hostname or ""
    except ValueError:
        return ""


@lru_cache(maxsize=1024)
def is_loopback(host: str) -> bool:
    """Return whether a host name or address means this machine."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
