"""Lines of the files below one folder that have a text in them: read in this process, as they are now.

No program is started, so a query is never an option of one; the text is looked for as it stands, so there is no pattern
that could take for ever.
"""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from msgspec import Struct
from signal_search.contracts.research import EvidenceChunk, ScopeKey
from signal_search.errors import Invalid

from infra.clock import Clock
from workers.memory.credentials import Profile, is_sensitive_name, is_sensitive_text, mask
from workers.memory.dates import modified
from workers.memory.rooted import Found, check_relative, opened, walk
from workers.memory.tool import GREP, Retrieved

_MOST_LINE: Final = 2000  # characters of a line that are returned


class GrepLimits(Struct, frozen=True, kw_only=True):
    """How much is looked at (memory guide); each at least 1."""

    max_results: int = 20
    max_files: int = 200
    max_file_bytes: int = 1_000_000
    profile: Profile = "strict"


class Grep:
    """Looks below one folder, for one scope."""

    def __init__(self, root: Path, scope: ScopeKey, limits: GrepLimits | None = None) -> None:
        """Bind a folder to a scope.

        Raises:
            Invalid: the root is no folder, or a limit is below 1.
        """
        self.root = root
        self.scope = scope
        self.limits = limits or GrepLimits()
        figures = (self.limits.max_results, self.limits.max_files, self.limits.max_file_bytes)
        if any(isinstance(each, bool) or each < 1 for each in figures):
            raise Invalid("A limit must be at least 1.", field="limits")
        with opened(root):
            pass

    def search(self, query: str, relative_path: str = "") -> Retrieved:
        """Return the lines that have the query in them, whatever the case of its letters, in the order of the files.

        Raises:
            Invalid: the query is blank, or the path leaves the root or goes through a link.
        """
        wanted = query.strip().casefold()
        if not wanted:
            raise Invalid("The query is blank.", field="query")
        steps = check_relative(relative_path)
        found: list[EvidenceChunk] = []
        skipped = 0
        for file, text in self._texts(steps):
            if text is None:
                skipped += 1
                continue
            for number, line in enumerate(text.splitlines(), 1):
                if wanted in line.casefold():
                    found.append(self._chunk(file, number, line))
                    if len(found) == self.limits.max_results:
                        return Retrieved(tuple(found), skipped)
        return Retrieved(tuple(found), skipped)

    def _texts(self, steps: tuple[str, ...]) -> Iterator[tuple[Found, str | None]]:
        limits = self.limits
        with opened(self.root) as folder:
            files = walk(
                folder, steps, most_files=limits.max_files, most_bytes=limits.max_file_bytes
            )
            for file in files:
                yield file, readable(file.path, file.body, limits.profile)

    def _chunk(self, file: Found, number: int, line: str) -> EvidenceChunk:
        name = hashlib.sha256(
            f"{file.path}:{number}".encode("utf-8", "surrogateescape")
        ).hexdigest()
        return EvidenceChunk(
            chunk_id=f"python-grep:{name}",
            scope=self.scope,
            content=line[:_MOST_LINE],
            source_ref=file.path,
            locator=f"line:{number}",
            metadata={"retriever": "python-grep", **modified(file.modified_ms)},
        )


def readable(path: str, body: bytes | None, profile: Profile) -> str | None:
    """Return a file's text; None for what is left out: credentials by name or content, binaries, other encodings."""
    if body is None or is_sensitive_name(path, profile) or b"\0" in body:
        return None
    try:
        path.encode()
        text = body.decode("utf-8")
    except UnicodeError:
        return None
    if is_sensitive_text(text, profile):
        return None
    return mask(text) if profile == "masked" else text


class GrepTool:
    """The channel: a bound folder and scope. It reads live files, so it is always fresh."""

    name = GREP
    provider = "local"
    read_only = True

    def __init__(self, grep: Grep, clock: Clock) -> None:
        """Look with `grep`."""
        self._grep = grep
        self._clock = clock

    def index_updated_at(self, scope: ScopeKey) -> datetime | None:
        """Return now."""
        return datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC)

    def retrieve(self, query: str, scope: ScopeKey) -> Retrieved:
        """Return the lines with the query; nothing for another scope than the bound one."""
        return self._grep.search(query) if scope == self._grep.scope else Retrieved(())
