"""The index of a scope, kept up by command: the body over HTTP, the command, and what it came to."""

from msgspec import Struct

from signal_search.contracts.research import ScopeKey


class IndexRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The index of a scope is to be made the state of its folder, which the settings name and no request.

    anew: every file is read into it again, as after a change of the vector model.
    """

    scope: ScopeKey
    anew: bool = False


class IndexFolder(
    IndexRequest,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="operation",
    tag="index",
):
    """Compare the index of a scope with its folder."""


class Indexed(Struct, frozen=True, kw_only=True):
    """What an indexing came to: files, lines and passages now, passages that were added and removed.

    skipped: files left out on purpose; version: of the index; every comparison makes the next one.
    """

    files: int
    lines: int
    passages: int
    added: int
    removed: int
    skipped: int
    version: int
