"""Result -> one Markdown document: the answer first, then what it rests on and how far to trust it.

Everything that came from the web is escaped and no raw HTML is passed on. `[1]` in the text becomes a link through
the reference definitions at the end.
"""

import re
from collections.abc import Iterable, Iterator

from signal_search.citations.names import authors_of, given_first
from signal_search.citations.works import date_parts, iso_date, link_target, one_line, url_of
from signal_search.contracts.finding import Finding, Uncertainty, Verdict
from signal_search.contracts.result import CitedSource, Result

_TEXTS = {
    "en": {
        "no_answer": "No answer: nothing that was found supports one.",
        "findings": "Findings",
        "conflicts": "Conflicts",
        "uncertain": "Open and uncertain",
        "sources": "Sources",
        "trust": "How far to trust this",
        "confidence": "Confidence",
        "stop": "Why it stopped",
        "exhausted": "the budget or the deadline ended first; coverage may be incomplete",
        "spent": "Spent",
        "warnings": "Warnings",
        "retracted": "RETRACTED",
        "weight": "weight",
        "usage": "{tokens} tokens ({counting}), {calls} calls, {fetches} fetches, {bytes} bytes, {rounds} rounds",
        "supported": "Claims supported",
        "instead_of": "rather than",
    },
    "zh": {
        "no_answer": "没有答案：所得材料均不足以支持结论。",
        "findings": "发现",
        "conflicts": "冲突",
        "uncertain": "未决与存疑",
        "sources": "来源",
        "trust": "可信程度",
        "confidence": "置信度",
        "stop": "停止原因",
        "exhausted": "预算或期限先到，覆盖可能不完整",
        "spent": "消耗",
        "warnings": "警告",
        "retracted": "已撤稿",
        "weight": "权重",
        "usage": "{tokens} 词元（{counting}），{calls} 次调用，{fetches} 次抓取，{bytes} 字节，{rounds} 轮",
        "supported": "获支持的断言",
        "instead_of": "而非",
    },
}
_MARKS = {Verdict.TRUE: "✓", Verdict.FALSE: "✗", Verdict.UNCERTAIN: "?"}
_SPECIAL = re.compile(r"([\\`*_\[\]()|<>#~&$])")
_BLOCK_START = re.compile(r"^(\d+)([.)])|^([-+=])")
# HTML can begin only with these after "<" (CommonMark 6.6); an autolink <https://...> is no HTML.
_HTML_START = re.compile(r"<(?!https?://[^\s<>]*>)(?=[A-Za-z/!?])")


def write(result: Result) -> str:
    """Return the whole answer as a document; headings follow the result's language (zh or en)."""
    texts = _TEXTS["zh" if result.language.startswith("zh") else "en"]
    sections = (
        [f"# {escape(result.query)}"],
        [without_html(result.answer.strip()) or texts["no_answer"]],
        _section(texts["findings"], (_finding(each) for each in result.findings)),
        _section(texts["conflicts"], _conflicts(result, texts)),
        _section(texts["uncertain"], (_uncertainty(each) for each in result.uncertainties)),
        _section(texts["trust"], _trust(result, texts)),
        _section(texts["warnings"], (f"- {escape(each)}" for each in result.warnings)),
        _section(texts["sources"], _sources(result, texts)),
        _definitions(result),
    )
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def escape(text: str) -> str:
    """Return the text on one line, to be read literally wherever it stands in a document."""
    escaped = _SPECIAL.sub(r"\\\1", one_line(text))
    return _BLOCK_START.sub(lambda m: f"{m[1]}\\{m[2]}" if m[1] else f"\\{m[3]}", escaped)


def without_html(markdown: str) -> str:
    """Return the Markdown with every beginning of raw HTML made literal; links and code stay."""
    return _HTML_START.sub("&lt;", markdown)


def _section(heading: str, lines: Iterable[str]) -> list[str]:
    body = list(lines)
    return [f"## {heading}", "", *body] if body else []


def _marks(numbers: Iterable[int]) -> str:
    return "".join(f"[{number}]" for number in numbers)


def _finding(finding: Finding) -> str:
    label = f" — {escape(finding.label)}" if finding.label else ""
    head = f"- {escape(finding.text)} {_marks(finding.citations)} ({finding.confidence:.2f}){label}"
    claims = (
        f"  - {_MARKS[claim.verdict]} {claim.verdict.value}: {escape(claim.text)} — {escape(claim.reason)}"
        for claim in finding.claims
    )
    return "\n".join([head, *claims])


def _conflicts(result: Result, texts: dict[str, str]) -> Iterator[str]:
    numbers = {source.doc_id: source.number for source in result.sources}
    for each in result.conflicts:
        sides = ((each.stronger, each.stronger_weight), (each.weaker, each.weaker_weight))
        stronger, weaker = (
            f"“{escape(span.quote)}” {_marks(filter(None, [numbers.get(span.doc_id)]))} ({weight:.2f})"
            for span, weight in sides
        )
        yield f"- {escape(each.topic)}: {stronger} {texts['instead_of']} {weaker}"


def _uncertainty(uncertainty: Uncertainty) -> str:
    target = link_target(uncertainty.url)
    address = f" <{target}>" if target else ""
    return f"- {escape(uncertainty.text)} — {escape(uncertainty.reason)}{address}"


def _trust(result: Result, texts: dict[str, str]) -> Iterator[str]:
    reasons = "; ".join(escape(reason) for reason in result.confidence_reasons)
    yield f"- {texts['confidence']}: {result.confidence:.2f}" + (f" — {reasons}" if reasons else "")
    if result.claims_total:
        yield f"- {texts['supported']}: {result.claims_true}/{result.claims_total}"
    yield f"- {texts['stop']}: {escape(result.stop.text)} (`{result.stop.reason.value}`)"
    if result.exhausted:
        yield f"- {texts['exhausted']}"
    spent = result.usage
    yield f"- {texts['spent']}: " + texts["usage"].format(
        tokens=spent.tokens,
        counting=escape(spent.counting),
        calls=spent.calls,
        fetches=spent.fetches,
        bytes=spent.bytes,
        rounds=spent.rounds,
    )


def _sources(result: Result, texts: dict[str, str]) -> Iterator[str]:
    weights = {score.doc_id: score.weighted for score in result.scores}
    for source in result.sources:
        weight = weights.get(source.doc_id)
        shown = f" — {texts['weight']} {weight:.4f}" if weight is not None else ""
        flag = f" **{texts['retracted']}**" if source.retracted else ""
        yield f"{source.number}. {_reference(source)}{shown}{flag}"


def _reference(source: CitedSource) -> str:
    names = ", ".join(escape(given_first(author)) for author in authors_of(source.authors))
    date = iso_date(date_parts(source.published))
    parts = (names, escape(source.title), escape(source.container), date)
    text = ". ".join(part for part in parts if part)
    target = link_target(url_of(source))
    return f"{text}. <{target}>" if target else f"{text}. {escape(source.url)}"


def _definitions(result: Result) -> list[str]:
    targets = ((source.number, link_target(url_of(source))) for source in result.sources)
    return [f"[{number}]: <{target}>" for number, target in targets if target]
