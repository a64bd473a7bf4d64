"""How large a program may be, and what it may be run on. The figures are the language's (scorer guide, section 7)."""

MAX_NODES = 256  # both expressions together
MAX_DEPTH = 32  # of each expression, its root included
MAX_NESTING = 32  # of brackets, those of calls included
MAX_SCORER_BYTES = 4_096
MAX_BODY_BYTES = 65_536
MAX_JSON_DEPTH = 64
MAX_CANDIDATES = 1_000
MAX_EXPLAIN_BYTES = 65_536

COUNTING = (
    "Each expression has a root (1). A number counts 1; true, false and a feature 2; a sign, an arithmetic operator, "
    "not and a comparison 2 and their operands; and/or 2 and their operands, however many stand in a row; a call 3 and "
    "its arguments. Depth is the longest way down from the root, which is 1: a number is one step, a name two, an "
    "operator one more than its deepest operand (two at least), a call likewise (three at least). Brackets count for "
    "nesting alone."
)
