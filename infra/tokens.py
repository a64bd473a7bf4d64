"""The tokens file: who may come in. Only SHA-256 digests are kept, so that the file gives no access to its reader.

A plain digest is enough: a token has 256 random bits, there is nothing to guess.
"""

import hmac
import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec
from msgspec import Struct
from signal_search.contracts.budget import Amounts
from signal_search.contracts.research import ScopeKey
from signal_search.errors import Invalid, NotFound

from infra import ids
from infra.settings import Settings

SCOPES = frozenset({"read", "write", "admin"})
_ID_CHARACTERS = 12


class Principal(Struct, frozen=True, kw_only=True):
    """The caller behind a token: tenant, what it may do, the token's id and what may be used with it in a UTC day.

    research: the scopes of research memory it may ask; without one, that memory does not exist for it.
    person: who of the tenant has the token; empty for all of them, who are then one in the eyes of an approval.
    every_scope: it may ask all of them; no token can, only the machine's own user.
    """

    tenant: str
    scopes: frozenset[str]
    limits: Amounts = {}
    token: str = ""
    research: tuple[ScopeKey, ...] = ()
    every_scope: bool = False
    person: str = ""

    def may_ask(self, scope: ScopeKey) -> bool:
        """Return whether the memory of a scope exists for this caller."""
        return self.every_scope or scope in self.research

    @property
    def actor(self) -> str:
        """Return who answers for what is done with the token: the tenant, or the person of it that has the token."""
        return f"{self.tenant}/{self.person}" if self.person else self.tenant


class TokenRecord(Struct, frozen=True, kw_only=True):
    """One line of the file. `id` names the token without giving it away; `created_at_ms` is epoch milliseconds."""

    id: str
    digest: str
    tenant: str
    scopes: tuple[str, ...]
    limits: Amounts = {}
    created_at_ms: int = 0
    research: tuple[ScopeKey, ...] = ()
    person: str = ""


class _File(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    tokens: tuple[TokenRecord, ...] = ()


def tokens_path(settings: Settings) -> Path:
    """Return where the tokens are kept."""
    named = settings.gateway.tokens_file
    return Path(named) if named else settings.data_path / "tokens.json"


class TokenStore:
    """The tokens of one file, as they were when it was loaded."""

    def __init__(self, path: Path, records: Iterable[TokenRecord] = ()) -> None:
        """Hold the records of `path`."""
        self._path = path
        self.records = tuple(records)

    @classmethod
    def load(cls, path: Path) -> "TokenStore":
        """Read the file; a missing one holds no tokens.

        Raises:
            Invalid: when the file is not a tokens file.
        """
        try:
            return cls(path, msgspec.json.decode(path.read_bytes(), type=_File).tokens)
        except FileNotFoundError:
            return cls(path)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Invalid("The tokens file is not valid.", field="gateway.tokens_file") from error

    def find(self, token: str) -> Principal | None:
        """Return who holds `token`. Every record is compared, in constant time, whether or not one fits."""
        digest = _digest(token)
        found: TokenRecord | None = None
        for record in self.records:
            if hmac.compare_digest(record.digest, digest):
                found = record
        return None if found is None else _principal(found)

    def create(
        self,
        tenant: str,
        scopes: Iterable[str],
        limits: Amounts,
        *,
        now_ms: int,
        research: tuple[ScopeKey, ...] = (),
        person: str = "",
    ) -> tuple[str, TokenRecord]:
        """Add a token and save the file; return the token, which is never shown again, and its record.

        Raises:
            Invalid: for an empty tenant, a person's name that could not be a tenant's, or an unknown scope.
        """
        token = ids.secret_token()
        digest = _digest(token)
        record = TokenRecord(
            id=digest[:_ID_CHARACTERS],
            digest=digest,
            tenant=_checked_name(tenant, "tenant"),
            scopes=_checked_scopes(scopes),
            limits=limits,
            created_at_ms=now_ms,
            research=research,
            person=_checked_name(person, "person") if person else "",
        )
        self._save((*self.records, record))
        return token, record

    def revoke(self, token_id: str) -> TokenRecord:
        """Remove the token with this id and save the file.

        Raises:
            NotFound: when no token has this id.
        """
        for record in self.records:
            if record.id == token_id:
                self._save(tuple(each for each in self.records if each is not record))
                return record
        raise NotFound("There is no token with this id.")

    def _save(self, records: tuple[TokenRecord, ...]) -> None:
        """Replace the file whole, so that a reader sees the old or the new one; mode 600 from the first byte."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        raw = msgspec.json.format(msgspec.json.encode(_File(tokens=records)))
        with NamedTemporaryFile(dir=self._path.parent, prefix=".tokens-", delete=False) as file:
            file.write(raw + b"\n")
            file.flush()
            os.fsync(file.fileno())
        Path(file.name).replace(self._path)
        self.records = records


def _digest(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _principal(record: TokenRecord) -> Principal:
    return Principal(
        tenant=record.tenant,
        scopes=frozenset(record.scopes),
        limits=dict(record.limits),
        token=record.id,
        research=record.research,
        person=record.person,
    )


def _checked_name(name: str, field: str) -> str:
    if not name.replace("-", "").replace("_", "").isalnum():
        raise Invalid("A name has letters, digits, - and _ only.", field=field)
    return name


def _checked_scopes(scopes: Iterable[str]) -> tuple[str, ...]:
    wanted = sorted(set(scopes))
    if not wanted or not SCOPES.issuperset(wanted):
        raise Invalid("A scope is one of read, write, admin.", field="scopes")
    return tuple(wanted)
