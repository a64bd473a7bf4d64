"""One question into the leaves that can be searched one by one; each leaf keeps where it came from.

Patterns: entities x dimensions, a chain of hops, one entity with its aspects, or the question as it stands. The cut
to the tier's width is reported, never silent; what a leaf must deliver is decided by its dimension.
"""

import re
from collections.abc import Callable, Sequence

from msgspec import Struct
from signal_search.contracts.plan import SubQuestion

from workers.planning.cues import cues_of
from workers.planning.entities import split_entities
from workers.planning.language import has_han
from workers.planning.subject import subject_of

# What is asked of each side of a comparison that names no dimension. Our words, not the caller's.
DEFAULT_DIMENSION = "区别"
DEFAULT_DIMENSION_EN = "strengths and limits"
# A narrow order to study one point needs no aspects beside it.
_BROAD = frozenset({"breadth", "span", "open"})
_ASPECTS_ZH = ("综述", "最新进展", "应用案例")
_ASPECTS_EN = ("overview", "recent advances", "applications")
_MOST_SPLIT = 12


class Leaf(Struct, frozen=True):
    """A leaf before it has an id: its text, its dimension, and the position of the leaf it waits for."""

    text: str
    dimension: str = "default"
    after: int | None = None


class Decomposition(Struct, frozen=True, kw_only=True):
    """The leaves kept, how many there were, and the note on a cut (empty without one)."""

    pattern: str
    questions: tuple[SubQuestion, ...]
    original: int
    entities: tuple[str, ...] = ()
    note: str = ""


def decompose(text: str, width: int) -> Decomposition:
    """Split a question into at most `width` leaves; a width of 1 keeps it whole."""
    pattern, entities, leaves = _split(text) if width > 1 else ("single", (), [Leaf(text)])
    kept = leaves[: max(width, 1)]
    note = "" if len(kept) == len(leaves) else cut_note(len(leaves), len(kept))
    return Decomposition(
        pattern=pattern,
        questions=tuple(_question(i, each) for i, each in enumerate(kept)),
        original=len(leaves),
        entities=entities,
        note=note,
    )


def cut_note(original: int, kept: int) -> str:
    """Return the design document's note on leaves beyond the width."""
    return f"(宽度超限，原 {original} 叶子截断至 {kept})"


def _question(index: int, leaf: Leaf) -> SubQuestion:
    waits = () if leaf.after is None else (f"q{leaf.after + 1}",)
    return SubQuestion(
        id=f"q{index + 1}", text=leaf.text, dimension=leaf.dimension, depends_on=waits
    )


def is_covered(decomposition: Decomposition) -> bool:
    """Check that every entity of the question is named by some leaf: asserted before anything is published."""
    texts = " ".join(each.text for each in decomposition.questions).lower()
    return all(each.lower() in texts for each in decomposition.entities)


# --- patterns ---------------------------------------------------------------------------------------------------------

Split = tuple[str, tuple[str, ...], list[Leaf]]


def _split(text: str) -> Split:
    for pattern, reader in _PATTERNS:
        found = reader(text)
        if found is not None:
            return pattern, *found
    return "single", (), [Leaf(text)]


Found = tuple[tuple[str, ...], list[Leaf]] | None

_SEQUENCE = re.compile(
    r"^先(?P<a1>.+?)[，,；;\s]*(?:再|然后|接着)(?P<b1>.+)$|^first,? (?P<a2>.+?)[,;]? (?:and )?then (?P<b2>.+)$",
    re.IGNORECASE,
)
_RELATION_ZH = (
    "作者|创始人|创立者|发明者|发明人|导演|编剧|主演|母校|导师|老师|学生|出生地|故乡|首都|首府|总部"
    "|所在地|校长|总统|总理"
    "|首席执行官|CEO|董事长|妻子|丈夫|父亲|母亲|母公司|子公司|收购方|开发商|制造商|出版社|国家|公司|大学|城市|人"
)
_CHAIN_ZH = re.compile(
    rf"^(?P<head>.+?)的(?P<first>{_RELATION_ZH})(?P<rest>的.+|毕业于.+|出生.+|任职.+|成立.+|在哪.+|位于.+)$"
)
_RELATION_EN = (
    r"author|founder|inventor|creator|director|writer|designer|developer|maker|publisher|owner|winner"
    r"|discoverer|capital"
    r"|president|ceo|headquarters|alma mater|birthplace|advisor|wife|husband|parent company|company"
    r"|country|university|person"
)
_CHAIN_EN = re.compile(
    rf"^(?P<rest>.+?) the (?P<first>{_RELATION_EN}) (?P<of>of|that|who"
    rf"|which) (?P<head>.+?)(?P<tail>(?: (?:born|study|studied|graduate"
    r"|graduated|located|based|founded|die|died)\b.*)?)\??$",
    re.IGNORECASE,
)


def _chain(text: str) -> Found:
    hops = _sequence(text) or _chain_zh(text) or _chain_en(text)
    if hops is None:
        return None
    return (), [Leaf(each, f"hop {i + 1}", i - 1 if i else None) for i, each in enumerate(hops)]


def _sequence(text: str) -> tuple[str, ...] | None:
    found = _SEQUENCE.match(text)
    if found is None:
        return None
    return (found["a1"] or found["a2"], (found["b1"] or found["b2"]).rstrip("。？?."))


def _chain_zh(text: str) -> tuple[str, ...] | None:
    found = _CHAIN_ZH.match(text)
    return None if found is None else (f"{found['head']}的{found['first']}", text)


def _chain_en(text: str) -> tuple[str, ...] | None:
    found = _CHAIN_EN.match(text)
    is_direct = found is None or re.fullmatch(
        r"(?:what|who|where|when)(?: is| was|'s| are| were)?", found["rest"].strip(), re.IGNORECASE
    )
    if found is None or (is_direct and not found["tail"]):
        return None
    return f"{found['first']} {found['of']} {found['head']}", text


_GRID_ZH = (
    re.compile(r"^(?:请|帮我)?(?:对比|比较)(?:一下|下)?\s*(?P<body>.+)$"),
    re.compile(
        r"^(?P<body>.+?(?:和|与|跟|vs\.?|versus|、|/).+?)(?:之间)?(?:的|有(?:什么|何|哪些))?(?:对比|比较"
        r"|区别|差异|差别|异同|不同|优劣)[？?。]?$",
        re.IGNORECASE,
    ),
)
_AXIS = re.compile(
    r"^(?P<entities>.+?)\s*(?:在|于)\s*(?P<axis>.+?)(?:上|方面|中|下)?\s*的\s*(?P<what>[^的]+)$"
)
_AXIS_ON = re.compile(r"^(?P<entities>.+?)\s*在\s*(?P<axis>.+?)\s*(?:上|方面)(?:的)?$")
_GRID_EN = (
    re.compile(
        r"^compare (?:the )?(?P<what>(?:(?! in terms\b)[\w -])+?) (?:of|between) (?P<entities>.+)$",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?:compare|comparing|comparison (?:of|between)) (?P<entities>.+?)(?: (?:on|in terms of|regarding"
        r"|by|with respect to|for) (?P<what>.+))?$",
        re.IGNORECASE,
    ),
    re.compile(
        r"^.{0,20}\bdifferences? between (?P<entities>.+?)(?: (?:in|on|regarding) (?P<what>.+))?$",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?P<entities>.+? (?:vs\.?|versus) .+?)(?: (?:for|in|on) (?P<what>.+?)|[:,] .+)?$",
        re.IGNORECASE,
    ),
)


def _grid(text: str) -> Found:
    if not has_han(text):
        return _grid_en(text.rstrip(" ?."))
    if "choose" in cues_of(text) or _VERSUS.search(text):
        return _cross(split_entities(subject_of(text)), (), DEFAULT_DIMENSION)
    for pattern in _GRID_ZH:
        found = pattern.match(text)
        if found is not None:
            return _grid_zh(found["body"].rstrip(" 。？?"))
    return None


_VERSUS = re.compile(r"(?<![a-z])(?:vs\.?|versus)(?![a-z])", re.IGNORECASE)


def _grid_zh(body: str) -> Found:
    axis = _AXIS.match(body)
    if axis is not None:
        return _cross(
            split_entities(axis["entities"]), split_entities(axis["axis"]), axis["what"].strip()
        )
    on = _AXIS_ON.match(body)
    if on is not None:
        return _cross(split_entities(on["entities"]), split_entities(on["axis"]), DEFAULT_DIMENSION)
    head, _, what = body.rpartition("的")
    what = what.strip() if head else DEFAULT_DIMENSION
    members, _, role = (head or body).partition("作为")
    return _cross(split_entities(members), (), f"作为{role.strip()}的{what}" if role else what)


def _cross(entities: Sequence[str], axis: Sequence[str], what: str) -> Found:
    if not 2 <= len(entities) <= _MOST_SPLIT:
        return None
    if len(axis) > 1:
        leaves = [Leaf(f"{e} 在 {a} 的{what}", f"{e}/{a}") for e in entities for a in axis]
    elif axis:
        leaves = [Leaf(f"{e} 在{axis[0]}的{what}", f"{e}/{what}") for e in entities]
    else:
        leaves = [Leaf(f"{e} 的{what}", f"{e}/{what}") for e in entities]
    return tuple(entities), leaves


def _grid_en(text: str) -> Found:
    for pattern in _GRID_EN:
        found = pattern.match(text)
        if found is not None:
            return _cross_en(found["entities"], found.groupdict().get("what") or "")
    return None


def _cross_en(enumeration: str, what: str) -> Found:
    members, _, role = enumeration.partition(" as ")
    entities = tuple(re.sub(r"\s+differences?$", "", each) for each in split_entities(members))
    if not 2 <= len(entities) <= _MOST_SPLIT:
        return None
    dimensions = split_entities(what) or ((f"as {role}",) if role else (DEFAULT_DIMENSION_EN,))
    return entities, [Leaf(f"{e} {d}", f"{e}/{d}") for e in entities for d in dimensions]


_BRACKETS = re.compile(r"[（(](?P<inside>[^（）()]{3,200})[）)]")
_COLON_LIST = re.compile(r"[:：]\s*(?P<inside>[^:：]{3,200})$")


def _listed(text: str) -> Found:
    found = _BRACKETS.search(text) or _COLON_LIST.search(text)
    entities = split_entities(found["inside"]) if found else ()
    if found is None or not 2 <= len(entities) <= _MOST_SPLIT:
        return None
    topic = subject_of(text.replace(found[0], " "))
    return entities, [Leaf(f"{each} {topic}", each) for each in entities]


_FACETS_ZH = re.compile(r"^(?P<head>.+)的(?P<facets>[^的]+)$")
_FACETS_EN = re.compile(
    r"^(?:the )?(?P<facets>[\w -]+ and [\w -]+?) of (?P<head>.+)$", re.IGNORECASE
)


def _facets(text: str) -> Found:
    if "study" not in cues_of(text) and "breadth" not in cues_of(text):
        return None
    subject = subject_of(text)
    found = (_FACETS_ZH if has_han(text) else _FACETS_EN).match(subject)
    facets = split_entities(found["facets"]) if found else ()
    if found is None or not 2 <= len(facets) <= _MOST_SPLIT:
        return _aspects(subject, text)
    join = "{} 的{}" if has_han(text) else "{1} of {0}"
    return (), [Leaf(join.format(found["head"], each), each) for each in facets]


def _aspects(subject: str, text: str) -> Found:
    if not cues_of(text) & _BROAD:
        return None
    aspects = _ASPECTS_ZH if has_han(text) else _ASPECTS_EN
    leaves = [Leaf(subject, "default")]
    return (), leaves + [Leaf(f"{subject} {each}", each) for each in aspects]


_PATTERNS: tuple[tuple[str, Callable[[str], Found]], ...] = (
    ("chain", _chain),
    ("list", _listed),
    ("grid", _grid),
    ("facets", _facets),
)
