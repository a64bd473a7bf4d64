"""A folder of one research: its outline, what was found, citations and report, and which job it stands for.

Written by the client alone, each file whole or not at all, so that whoever is interrupted goes on from what is there.
File names are fixed; nothing that came from the web becomes a path.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from signal_search.citations import FORMATS
from signal_search.contracts.outcome import decode_result
from signal_search.contracts.query import RetrieveRequest
from signal_search.contracts.result import CitedSource, Result
from signal_search.errors import Invalid

STATE = "research.json"
OUTLINE = "outline.md"
ITEMS = "items.jsonl"
REPORT = "report.md"
RESULT = "result.json"
CHANGES = "changes.json"
HISTORY = "history"
CITATIONS: Mapping[str, str] = {
    "citations.bib": "bibtex",
    "citations.json": "csl",
    "citations.ris": "ris",
}
_MOST_OUTLINE = 16_000  # characters, as the contract has it


class Attempt(Struct, frozen=True, kw_only=True):
    """One job of a research. key: its Idempotency-Key, kept before the job is made, so that there is never a second."""

    key: str
    job_id: str = ""
    finished: bool = False


class VaultState(Struct, frozen=True, kw_only=True):
    """What a vault is about, and its jobs, oldest first."""

    version: Literal[1] = 1
    request: RetrieveRequest
    attempts: tuple[Attempt, ...] = ()

    @property
    def last(self) -> Attempt | None:
        """Return the latest job, if there was one."""
        return self.attempts[-1] if self.attempts else None


class Item(Struct, frozen=True, kw_only=True):
    """A cited source with what is quoted from it."""

    number: int
    doc_id: str
    url: str
    title: str
    published: str
    source_id: str
    weight: float | None
    quotes: tuple[str, ...]


class Changes(Struct, frozen=True, kw_only=True):
    """How the sources of a research differ from those of the time before, by address; changed: with another text."""

    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    same: tuple[str, ...] = ()


class Vault:
    """One folder."""

    def __init__(self, folder: Path) -> None:
        """Use `folder`, which is made when something is written."""
        self.folder = folder

    def state(self) -> VaultState | None:
        """Return what the vault is about, None for an empty one.

        Raises:
            Invalid: the folder holds a state that is not ours.
        """
        raw = self._read(STATE)
        if raw is None:
            return None
        try:
            return msgspec.json.decode(raw, type=VaultState)
        except msgspec.DecodeError as error:
            raise Invalid("this folder is no vault that can be read", field="vault") from error

    def is_to_be_asked(self, *, refresh: bool) -> bool:
        """Say whether the next call makes a job: not with one that has not ended, nor with a result but to refresh it.

        Raises:
            Invalid: the folder holds a state that is not ours.
        """
        state = self.state()
        last = state.last if state is not None else None
        return last is None or (last.finished and (refresh or self.result() is None))

    def keep_state(self, state: VaultState) -> None:
        """Remember the state."""
        self._write(STATE, msgspec.json.format(msgspec.json.encode(state)))

    def outline(self) -> str | None:
        """Return the outline as it stands in the folder, with the edits of whoever opened it."""
        raw = self._read(OUTLINE)
        return raw.decode("utf-8", "replace")[:_MOST_OUTLINE] if raw else None

    def keep_outline(self, text: str) -> None:
        """Write the outline."""
        self._write(OUTLINE, text.encode())

    def result(self) -> Result | None:
        """Return the latest result."""
        raw = self._read(RESULT)
        if raw is None:
            return None
        try:
            found = decode_result(raw)
        except msgspec.DecodeError as error:
            raise Invalid("the result in this vault cannot be read", field="vault") from error
        return found if isinstance(found, Result) else None

    def keep_result(self, result: Result) -> Changes:
        """Write items, citations, report, result, and what changed since the time before; return the changes.

        The result of the time before goes to the history. The result itself is written last: it says that all is there.
        """
        before = self.result()
        changes = changes_between(before, result)
        if before is not None and before.job_id != result.job_id:
            self._write(f"{HISTORY}/{_plain(before.job_id)}.json", msgspec.json.encode(before))
        self._write(ITEMS, msgspec.json.Encoder().encode_lines(items_of(result)))
        for name, form in CITATIONS.items():
            self._write(name, FORMATS[form].write(result).encode())
        self._write(REPORT, FORMATS["markdown"].write(result).encode())
        self._write(CHANGES, msgspec.json.format(msgspec.json.encode(changes)))
        self._write(RESULT, msgspec.json.encode(result))
        return changes

    def keep_references(self, result: Result, files: Mapping[str, str]) -> None:
        """Write the citations once more to `files`: the name of a format by the name of its file."""
        for name, form in files.items():
            self._write(name, FORMATS[form].write(result).encode())

    def changes(self) -> Changes:
        """Return what the latest result changed."""
        raw = self._read(CHANGES)
        return msgspec.json.decode(raw, type=Changes) if raw else Changes()

    def _read(self, name: str) -> bytes | None:
        try:
            return (self.folder / name).read_bytes()
        except FileNotFoundError:
            return None

    def _write(self, name: str, content: bytes) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.part")
        draft.write_bytes(content)
        draft.replace(path)


def items_of(result: Result) -> list[Item]:
    """Return the cited sources with the passages that support something, in order of citation."""
    weights = {each.doc_id: each.weighted for each in result.scores}
    quotes: dict[str, dict[str, None]] = {}
    for finding in result.findings:
        for claim in finding.claims:
            for span in claim.supporting:
                quotes.setdefault(span.doc_id, {})[span.quote] = None
    return [_item(each, weights, tuple(quotes.get(each.doc_id, ()))) for each in result.sources]


def _item(source: CitedSource, weights: Mapping[str, float], quotes: tuple[str, ...]) -> Item:
    return Item(
        number=source.number,
        doc_id=source.doc_id,
        url=source.url,
        title=source.title,
        published=source.published,
        source_id=source.source_id,
        weight=weights.get(source.doc_id),
        quotes=quotes,
    )


def changes_between(before: Result | None, after: Result) -> Changes:
    """Return which sources came, went, and say something else than before; without a before all are new."""
    old = {each.url: each.doc_id for each in before.sources} if before is not None else {}
    now = {each.url: each.doc_id for each in after.sources}
    both = [url for url in now if url in old]
    return Changes(
        new=tuple(url for url in now if url not in old),
        gone=tuple(url for url in old if url not in now),
        changed=tuple(url for url in both if old[url] != now[url]),
        same=tuple(url for url in both if old[url] == now[url]),
    )


def _plain(job_id: str) -> str:
    return "".join(each for each in job_id if each.isalnum() or each == "_")[:64]
