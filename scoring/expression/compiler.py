"""The passes in their order: size, tokens, syntax, limits, types; a text becomes a program or one error."""

from signal_search.contracts.scorer import ScorerProgram

from scoring.expression.program import Program


def compile_program(program: ScorerProgram) -> Program:
    """Compile a program.

    Raises:
        ProgramError: and nothing else, whatever the text: `code`, `field` (`filter` or `score`) and `position` say what
            is wrong and where in the trimmed expression. Of several errors the filter's comes first.
        ProgramTooLarge: the same with status 413, when it is larger than MAX_SCORER_BYTES.
    """
    raise NotImplementedError
