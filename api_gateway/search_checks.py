"""What a type cannot say about a search: texts, sources, fields that contradict each other, and the program itself.

In the order of the scorer guide: the program's size, the body's form, conflicts of modes, then compilation, all before
any source or model is asked.
"""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct
from signal_search.contracts.search import SearchRequest, SurveyRequest
from signal_search.errors import Invalid, ModeConflict, ProgramTooLarge

from api_gateway.checks import ADDRESSED, check_address, check_freshness, check_text
from scoring.expression.compiler import compile_program
from scoring.expression.limits import MAX_SCORER_BYTES


class _Peek(Struct):
    """The program as it was sent."""

    scorer: msgspec.Raw = msgspec.Raw(b"null")


def check_scorer_size(body: bytes) -> None:
    """Refuse a program that is larger than the limit, whatever is in it; other faults are told elsewhere.

    Raises:
        ProgramTooLarge: counted as the compact JSON of what was sent.
    """
    try:
        sent = msgspec.json.decode(body, type=_Peek).scorer
        size = len(msgspec.json.encode(msgspec.json.decode(sent)))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return
    if size > MAX_SCORER_BYTES:
        raise ProgramTooLarge(field="scorer")


def check_search(request: SearchRequest) -> None:
    """Refuse a search that cannot mean anything.

    Raises:
        Invalid: with the first field at fault.
        ModeConflict: `ranking_conflict`, a program without its ranking or the other way round; `mode_conflict`, a
            program in mode multi, which does not rank.
        ProgramError: the program does not compile.
    """
    for field, text in _texts(request):
        check_text(field, text, layout=field.startswith("quer"))
    _check_sources(request.sources)
    check_freshness(request.freshness, "freshness")
    _check_modes(request)
    if request.scorer is not None:
        compile_program(request.scorer)


def check_survey(request: SurveyRequest) -> None:
    """Refuse a survey that cannot mean anything.

    Raises:
        Invalid: with the first field at fault.
    """
    check_text("goal", request.goal, layout=True)
    if len(request.goal.encode("utf-8", "replace")) > _GOAL_BYTES:
        raise Invalid(f"The goal has at most {_GOAL_BYTES} bytes.", field="goal")
    for at, query in enumerate(request.queries):
        check_text(f"queries[{at}]", query, layout=True)
    rules = request.rules
    for name, entries in (("authors", rules.authors), ("venues", rules.venues)):
        for at, entry in enumerate(entries):
            check_text(f"rules.{name}[{at}]", entry)
    if rules.year_from and rules.year_to and rules.year_from > rules.year_to:
        raise Invalid("The years end before they begin.", field="rules.year_to")
    _check_sources(request.sources)


_GOAL_BYTES = 16_000  # scorer guide


def _texts(request: SearchRequest) -> Iterator[tuple[str, str]]:
    named = {
        "query": request.query,
        "doi": request.doi,
        "arxiv_id": request.arxiv_id,
        "title": request.title,
    }
    given = {name: text for name, text in named.items() if text}
    if not given and not request.queries:
        raise Invalid("Give a query, queries, doi, arxiv_id or title.", field="query")
    yield from given.items()
    for at, query in enumerate(request.queries):
        yield f"queries[{at}]", query
    for at, site in enumerate(request.domain_boost):
        yield f"domain_boost[{at}]", site


def _check_sources(sources: Sequence[str] | None) -> None:
    for at, name in enumerate(sources or ()):
        field = f"sources[{at}]"
        check_text(field, name)
        if name.startswith(ADDRESSED):
            check_address(name[5:], field)


def _check_modes(request: SearchRequest) -> None:
    by_program, has_program = request.ranking == "scorer", request.scorer is not None
    if by_program and not has_program:
        message = "Ranking by a scorer needs the scorer."
        raise ModeConflict(message, code="ranking_conflict", field="scorer")
    if has_program and not by_program:
        message = 'A scorer needs "ranking": "scorer".'
        raise ModeConflict(message, code="ranking_conflict", field="ranking")
    if by_program and request.mode == "multi":
        raise ModeConflict("Mode multi does not rank.", field="mode")
