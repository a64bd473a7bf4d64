"""Which sources to ask: what the caller named alone, else a floor of general ones and the best by topic, up to a cap.

Pure and deterministic: the registry's order breaks every tie. Whatever a source cannot do about the caller's
constraints is written down, not passed over.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, zip_longest

from msgspec import Struct
from signal_search.contracts.plan import ConstraintUse
from signal_search.contracts.query import MEMORY_SOURCE, Constraints
from signal_search.contracts.source import SourceView

from scoring.identity import site_of

MOST_SOURCES = 16
GENERAL_CATEGORIES = frozenset({"intl_engines", "reference", "private_kb"})
_CATEGORY_TOPICS = {
    "academic_api": "academic",
    "authoritative": "dev",
    "privacy_extra": "privacy",
    "ai_search": "ai",
    "cn_official": "cn_official",
}
_BY_ADDRESS = ("site:", "feed:")
_DOMAIN = re.compile(r"^(?:[a-z0-9-]+\.)+[a-z]{2,}$", re.IGNORECASE)
# An identifier in the question weighs this much: its registry is asked before any general source.
IDENTIFIED = 10.0
# A source of another language comes after its equals.
_OTHER_LANGUAGE = -0.5


class Choice(Struct, frozen=True, kw_only=True):
    """The chosen sources in the order to ask them, those asked once for all questions, and what was left out."""

    ids: tuple[str, ...]
    shared: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


def choose_sources(
    topics: Mapping[str, float],
    sources: Sequence[SourceView],
    constraints: Constraints,
    *,
    language: str,
    cap: int,
    shared: Callable[[str], bool],
) -> Choice:
    """Choose at most min(cap, 16) sources.

    Sources that the operator wants asked in any case come first and are never cut; however many they are, one place is
    left for another. Then the floor: general sources. Then those whose topics the question names, best first; an API
    before a site of equal score, since it answers in one request. The notes say which source is asked why.

    `source_prefs.only` replaces the choice and is not cut; `site:URL` and `feed:URL` in it are sources by address, and
    a bare domain is its site; research memory is none of them. A wanted domain adds that site, since a general source
    may not know it.
    """
    usable = [each for each in sources if is_usable(each)]
    if constraints.source_prefs.only:
        # Also what nobody enabled; one that has no key here says so in its call.
        askable = [each for each in sources if each.access != "closed"]
        outside = [each for each in constraints.source_prefs.only if each != MEMORY_SOURCE]
        return _only(outside, askable, shared)
    blocked = set(constraints.source_prefs.block)
    allowed = [each for each in usable if each.id not in blocked]
    forced = [each.id for each in allowed if each.force_include]
    others = [each for each in allowed if not each.force_include]
    first = [*_named_domain(constraints), *forced]
    most = max(1, min(cap, MOST_SOURCES), len(first) + bool(others) if forced else 0)
    ranked = _ranked(topics, others, constraints, language) if others else []
    ids = (*first, *(each.id for each in _fair(ranked, most - len(first))))
    return Choice(
        ids=ids[:most],
        shared=_shared(ids[:most], shared),
        notes=(*_reasons(ids[:most], allowed, topics), *_left_out(ids[most:])),
    )


def is_usable(source: SourceView) -> bool:
    """Say whether a source can be asked now: enabled, not closed, and its key present if it needs one."""
    return source.enabled and source.access != "closed" and source.key_present is not False


def _reasons(
    ids: Sequence[str], sources: Sequence[SourceView], topics: Mapping[str, float]
) -> tuple[str, ...]:
    """Say why each source is asked, one line per reason in the order of the sources."""
    views = {each.id: each for each in sources}
    found: dict[str, list[str]] = {}
    for each in ids:
        found.setdefault(_reason(views.get(each), topics), []).append(each)
    return tuple(f"{reason}: {', '.join(names)}" for reason, names in found.items())


def _reason(source: SourceView | None, topics: Mapping[str, float]) -> str:
    if source is None:
        return "sources of the wanted domain"
    if source.force_include:
        return "sources asked whatever the question"
    about = [each for each in _about(source) if topics.get(each)]
    if not about:
        return "general sources" if _is_general(source) else "sources for want of better ones"
    best = max(about, key=lambda each: topics[each])
    return f"sources for {best} ({topics[best]:g})"


def _left_out(ids: Sequence[str]) -> tuple[str, ...]:
    return (f"sources beyond the cap: {', '.join(ids)}",) if ids else ()


def _only(
    names: Sequence[str], usable: Sequence[SourceView], shared: Callable[[str], bool]
) -> Choice:
    known = {each.id for each in usable}
    ids: list[str] = []
    missing = 0
    for name in names:
        found = name if name in known or name.startswith(_BY_ADDRESS) else _as_site(name)
        missing += not found
        ids.extend([found] if found else [])
    unique = tuple(dict.fromkeys(ids))
    notes = (f"{missing} of the named sources cannot be asked",) if missing else ()
    return Choice(ids=unique, shared=_shared(unique, shared), notes=notes)


def _as_site(name: str) -> str:
    return f"site:https://{name.lower()}/" if _DOMAIN.match(name) else ""


def _named_domain(constraints: Constraints) -> tuple[str, ...]:
    site = _as_site(constraints.domain or "")
    return (site,) if site else ()


def _shared(ids: Sequence[str], shared: Callable[[str], bool]) -> frozenset[str]:
    return frozenset(each for each in ids if each.startswith(_BY_ADDRESS) or shared(each))


# --- ranking ----------------------------------------------------------------------------------------------------------


def _ranked(
    topics: Mapping[str, float],
    sources: Sequence[SourceView],
    constraints: Constraints,
    language: str,
) -> list[SourceView]:
    wanted = dict(topics)
    if constraints.domain and "." not in constraints.domain:
        wanted[constraints.domain.lower()] = max(wanted.values(), default=0.0) + 1.0
    scores = {each.id: _score(wanted, each, language) for each in sources}
    boosted = set(constraints.source_prefs.boost)
    chosen = [each for each in sources if scores[each.id] > 0.0 or _is_general(each)]
    return sorted(
        chosen or sources,
        key=lambda each: (
            each.id not in boosted,
            scores[each.id] < IDENTIFIED,
            not _is_general(each),
            not _speaks(each, language),
            -scores[each.id],
            each.kind == "web",
        ),
    )


def _fair(ranked: list[SourceView], most: int) -> list[SourceView]:
    """Let general and special sources take turns when the cap leaves no room behind the general ones."""
    general = [each for each in ranked if _is_general(each)]
    special = [each for each in ranked if not _is_general(each)]
    if len(general) < most or not special or ranked[0] is not general[0]:
        return ranked
    pairs = chain.from_iterable(zip_longest(general, special))
    return [each for each in pairs if each is not None]


def _is_general(source: SourceView) -> bool:
    """Say whether a source is of the floor: general by its kind, or set up by the operator and good for anything."""
    is_general = source.category in GENERAL_CATEGORIES or source.key_present is True
    return is_general and not source.topics


def _score(topics: Mapping[str, float], source: SourceView, language: str) -> float:
    best = max((topics.get(each, 0.0) for each in _about(source)), default=0.0)
    return best if not best or _speaks(source, language) else best + _OTHER_LANGUAGE


def _about(source: SourceView) -> tuple[str, ...]:
    return source.topics or (_CATEGORY_TOPICS.get(source.category, ""),)


def _speaks(source: SourceView, language: str) -> bool:
    return not source.languages or language in source.languages


# --- constraints ------------------------------------------------------------------------------------------------------


def constraint_use(
    ids: Sequence[str], sources: Sequence[SourceView], constraints: Constraints
) -> tuple[ConstraintUse, ...]:
    """Say for each source what becomes of language, domain and freshness.

    Pushed down: its request carries it. Otherwise it is applied to the results; a topic instead of a domain name
    only steers the choice of sources, and nothing can be honoured about it in a source that was named alone.
    """
    wanted = _wanted(constraints)
    views = {each.id: each for each in sources}
    return tuple(_use(each, views.get(each), wanted, constraints) for each in ids)


def _wanted(constraints: Constraints) -> tuple[str, ...]:
    names = ("language", "domain", "freshness")
    return tuple(each for each in names if getattr(constraints, each) is not None)


def _use(
    source_id: str, view: SourceView | None, wanted: Sequence[str], constraints: Constraints
) -> ConstraintUse:
    carried = _carried(source_id, view, constraints)
    topic_only = constraints.domain is not None and "." not in constraints.domain
    lost = {"domain"} if topic_only and constraints.source_prefs.only else set()
    done = carried | ({"domain"} if topic_only and not lost else set())
    return ConstraintUse(
        source_id=source_id,
        pushed_down=tuple(each for each in wanted if each in done - lost),
        applied_after=tuple(each for each in wanted if each not in done | lost),
        not_honoured=tuple(each for each in wanted if each in lost),
    )


def _carried(source_id: str, view: SourceView | None, constraints: Constraints) -> set[str]:
    if source_id.startswith(_BY_ADDRESS):
        is_there = constraints.domain and site_of(source_id[5:]) == site_of(constraints.domain)
        return {"domain"} if is_there else set()
    return set(view.constraints) if view else set()
