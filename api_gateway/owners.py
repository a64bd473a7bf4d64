"""Whose a job is, and who may read it: the one place that decides, for every face and every kind of job.

What is of a scope of research memory belongs to an owner of its own, made of tenant and scope: whoever lacks the grant
finds neither the job nor anything of it, not among the lists, not by its id, and cannot tell that there is one. Who
pays is the tenant all the same.
"""

import hashlib
from functools import lru_cache

import msgspec
from msgspec import Struct
from signal_search.contracts.job import AnyRequest, JobSpec
from signal_search.contracts.research import ScopeKey
from signal_search.errors import NotFound

from infra.tokens import Principal


class Reader(Struct, frozen=True, kw_only=True):
    """On whose behalf jobs are made and read: a tenant, and the scopes that were granted to it.

    every_scope: the machine's own user, who has the files of the memory in hand anyway. commands: the owner of the jobs
    that carry out commands to the memory of a scope, for whoever takes an answer to its caller; nobody else reads them.
    """

    tenant: str
    scopes: tuple[ScopeKey, ...] = ()
    every_scope: bool = False
    commands: str = ""

    @property
    def owners(self) -> tuple[str, ...]:
        """Return the owners in whose name this reader may read, the tenant itself first."""
        granted: tuple[ScopeKey | None, ...] = (None,) if self.every_scope else self.scopes
        scoped = (owner_of(self.tenant, each) for each in granted)
        return (self.tenant, *scoped, *filter(None, (self.commands,)))

    def may_read(self, spec: JobSpec) -> bool:
        """Return whether a job is this reader's."""
        return spec.tenant == self.tenant and spec.belongs_to in self.owners

    def owner_for(self, request: AnyRequest) -> str:
        """Return whose the job of a request would be; '' for one that is all of the tenant's, as none of a scope is.

        Raises:
            NotFound: `scope_not_found`: it names a scope that was not granted, whether or not there is such a scope.
        """
        scope = scope_of(request)
        if scope is None:
            return self.commands
        if self.every_scope:
            return owner_of(self.tenant, None)
        if scope not in self.scopes:
            message = "There is no such scope for this caller."
            raise NotFound(message, code="scope_not_found", field="constraints.scope")
        return owner_of(self.tenant, scope)


def reader_of(principal: Principal) -> Reader:
    """Return the reader that a principal is."""
    return Reader(
        tenant=principal.tenant, scopes=principal.research, every_scope=principal.every_scope
    )


def scope_of(request: AnyRequest) -> ScopeKey | None:
    """Return the scope of research memory that a request asks, None for all others.

    Read off the fields and not off the kind: a new kind of request with a scope has an owner without being named here.
    """
    for asked in (request, request.constraints):
        found = getattr(asked, "scope", None)
        if isinstance(found, ScopeKey):
            return found
    return None


@lru_cache(maxsize=1024)
def owner_of(tenant: str, scope: ScopeKey | None) -> str:
    """Return the owner of a tenant's jobs in a scope (None: in any); no tenant's name has a colon."""
    return f"research:{_digest(tenant, scope)}"


def commands_owner(tenant: str, scope: ScopeKey) -> str:
    """Return the owner of a tenant's commands to the memory of a scope, whom no reader is by its grants."""
    return f"memory:{_digest(tenant, scope)}"


def _digest(tenant: str, scope: ScopeKey | None) -> str:
    return hashlib.sha256(msgspec.json.encode((tenant, scope))).hexdigest()
