"""What the language can do, as data: for a caller, for a model that writes programs, and for the command line."""

from typing import Any

from signal_search.contracts.scorer import LANGUAGE

from scoring.expression import limits
from scoring.expression.functions import FUNCTIONS
from scoring.expression.program import FEATURE_VERSION
from scoring.expression.tokens import COMPARISONS
from scoring.expression.variables import FEATURES

_OPERATORS = {
    "arithmetic": ["+", "-", "*", "/"],
    "sign": ["+", "-"],
    "comparison": list(COMPARISONS),
    "logic": ["not", "and", "or"],
}
# From the tightest; operators of one line stand beside each other, and are read from the left.
_PRECEDENCE = [
    "brackets and calls",
    "sign",
    "* /",
    "+ -",
    "comparison, one only",
    "not",
    "and",
    "or",
]
ERROR_CODES = {
    "syntax": "the text is not an expression of the language",
    "number": "a number is too large to be finite",
    "nesting_limit": "brackets are nested too deeply",
    "depth_limit": "the expression is too deep",
    "node_limit": "both expressions have too many nodes together",
    "unknown_name": "there is no feature of this name",
    "unknown_function": "there is no function of this name",
    "arity": "the function takes another number of arguments",
    "type": "an operand or argument has the wrong type, or may be null",
    "chained_comparison": "two comparisons in a row",
    "filter_type": "the filter is not a boolean",
    "score_type": "the score is not a number, or may be null",
    "scorer_too_large": "the program is larger than the limit",
    "division_by_zero": "a divisor was 0 for a candidate",
    "domain": "a function is not defined for the value of a candidate",
    "non_finite": "a result was not finite for a candidate",
    "candidate_limit": "more candidates than a program may score",
}


def capabilities(*, generation_available: bool | None) -> dict[str, Any]:
    """Return language, features, functions, operators, limits and error codes as plain JSON values.

    `generation_available` is left out when None: the command line does not know.
    """
    available = (
        {} if generation_available is None else {"generation_available": generation_available}
    )
    return {
        "language": LANGUAGE,
        "feature_version": FEATURE_VERSION,
        **available,
        "features": {
            name: {
                "type": "number",
                "nullable": feature.type.is_nullable,
                "description": feature.description,
                "range": feature.range,
            }
            for name, feature in FEATURES.items()
        },
        "functions": {
            name: {
                "args": list(function.args),
                "returns": function.returns,
                "domain": function.domain,
            }
            for name, function in FUNCTIONS.items()
        },
        "operators": _OPERATORS,
        "precedence": _PRECEDENCE,
        "limits": _limits(),
        "error_codes": dict(ERROR_CODES),
    }


def _limits() -> dict[str, int | str]:
    return {
        "nodes": limits.MAX_NODES,
        "depth": limits.MAX_DEPTH,
        "nesting": limits.MAX_NESTING,
        "scorer_bytes": limits.MAX_SCORER_BYTES,
        "body_bytes": limits.MAX_BODY_BYTES,
        "json_depth": limits.MAX_JSON_DEPTH,
        "candidates": limits.MAX_CANDIDATES,
        "explain_bytes": limits.MAX_EXPLAIN_BYTES,
        "counting": limits.COUNTING,
    }
