"""The passes in their order: size, tokens, syntax, limits, types; a text becomes a program or one error."""

from collections.abc import Mapping

import msgspec
from signal_search.contracts.scorer import ScorerProgram
from signal_search.errors import ProgramTooLarge

from scoring.expression.checker import Checker
from scoring.expression.limits import MAX_NODES, MAX_SCORER_BYTES
from scoring.expression.parser import parse
from scoring.expression.program import Program
from scoring.expression.spans import Expression, trimmed
from scoring.expression.syntax import ROOT, Syntax

ALWAYS = "true"


def compile_program(program: ScorerProgram) -> Program:
    """Compile a program.

    Raises:
        ProgramError: and nothing else, whatever the text: `code`, `field` (`filter` or `score`) and `position` say what
            is wrong and where in the trimmed expression. Both are parsed before the types of either are checked; of two
            errors of one pass the filter's comes first.
        ProgramTooLarge: the same with status 413, when it is larger than MAX_SCORER_BYTES.
    """
    check_size(_fields(program))
    filter_text = trimmed(Expression.of_filter, program.filter)
    score_text = trimmed(Expression.of_score, program.score)
    filter_tree, score_tree = parse(filter_text), parse(score_text)
    nodes = filter_tree.nodes + score_tree.nodes + 2 * ROOT
    if nodes > MAX_NODES:
        raise _too_many(score_text, score_tree)
    checker = Checker()
    return Program(
        normal=ScorerProgram(
            language=program.language, filter=filter_text.text, score=score_text.text
        ),
        filter=checker.filter(filter_text, filter_tree),
        score=checker.score(score_text, score_tree),
        nodes=nodes,
        depth=max(filter_tree.depth, score_tree.depth) + ROOT,
    )


def check_size(fields: Mapping[str, object]) -> None:
    """Check the fields of a program as they were submitted: compact JSON in UTF-8, expressions not yet trimmed.

    Raises:
        ProgramTooLarge: above MAX_SCORER_BYTES.
    """
    if len(_compact(fields)) > MAX_SCORER_BYTES:
        raise ProgramTooLarge(
            f"The program is larger than {MAX_SCORER_BYTES} bytes.", field="scorer"
        )


def _fields(program: ScorerProgram) -> dict[str, str]:
    # Whether a filter of `true` was written out is not known any more: the benefit of the doubt. A caller who has the
    # submitted fields calls check_size with them.
    fields = {"language": program.language, "score": program.score}
    return fields if program.filter == ALWAYS else {**fields, "filter": program.filter}


def _compact(fields: Mapping[str, object]) -> bytes:
    try:
        return msgspec.json.encode(fields)
    except (
        UnicodeEncodeError
    ):  # half of a surrogate pair: refused as a character later, counted here
        return str(fields).encode("utf-8", "replace")


def _too_many(expression: Expression, tree: Syntax) -> Exception:
    message = f"Filter and score have more than {MAX_NODES} nodes together"
    return expression.error("node_limit", message, tree.start, tree.end)
