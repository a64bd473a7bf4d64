"""The texts that the loopback web serves, read from TOML and checked when they are read."""

import tomllib
from functools import lru_cache
from pathlib import Path

import msgspec
from msgspec import Struct

FOLDER = Path(__file__).with_name("corpus")


class Article(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An encyclopedic article; `edited` is an ISO time, headings are written `== so ==`."""

    id: int
    title: str
    revision: int
    edited: str
    text: str
    disambiguation: bool = False


class Paper(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A work: with `arxiv` on the preprint server, with `doi` in the register. issued: year, month, day as known."""

    title: str
    authors: list[str]
    published: str
    arxiv: str = ""
    doi: str = ""
    abstract: str = ""
    updated: str = ""
    comment: str = ""
    categories: list[str] = []
    journal: str = ""
    publisher: str = ""
    type: str = ""
    volume: str = ""
    issue: str = ""
    page: str = ""
    language: str = "en"
    issued: list[int] = []
    retracts: str = ""
    retracted_by: str = ""
    cited: int = 0


class Page(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A page of a plain site."""

    path: str
    title: str
    text: str
    links: list[str] = []
    modified: str = ""
    private: bool = False


class Story(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A newspaper's article; `published` is an ISO time with its zone."""

    path: str
    title: str
    author: str
    published: str
    summary: str
    text: str


def _read(name: str) -> dict[str, object]:
    return tomllib.loads((FOLDER / name).read_text("utf-8"))


@lru_cache(maxsize=2)
def articles(language: str) -> tuple[Article, ...]:
    """Return the encyclopedia in `en` or `zh`."""
    return msgspec.convert(_read(f"articles_{language}.toml")["article"], tuple[Article, ...])


@lru_cache(maxsize=1)
def papers() -> tuple[Paper, ...]:
    """Return all works."""
    return msgspec.convert(_read("papers.toml")["paper"], tuple[Paper, ...])


@lru_cache(maxsize=2)
def pages(site: str) -> tuple[Page, ...]:
    """Return the pages of `harbour` or `gbk`."""
    return msgspec.convert(_read(f"{site}.toml")["page"], tuple[Page, ...])


@lru_cache(maxsize=1)
def stories() -> tuple[Story, ...]:
    """Return the newspaper's articles, newest first."""
    found = msgspec.convert(_read("news.toml")["article"], tuple[Story, ...])
    return tuple(sorted(found, key=lambda story: story.published, reverse=True))
