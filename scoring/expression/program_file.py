"""A program as a file: bytes become a program, before anything looks into its expressions."""

import msgspec
from signal_search.contracts.scorer import ScorerProgram
from signal_search.errors import Invalid, ProgramTooLarge

from scoring.expression.limits import MAX_SCORER_BYTES

# Enough to see that a file is too large, however large it is.
READ_BYTES = MAX_SCORER_BYTES + 1


def decode_program(data: bytes) -> ScorerProgram:
    """Decode UTF-8 JSON of `language`, `score` and, if wanted, `filter`; white space counts for the size.

    Raises:
        ProgramTooLarge: more than MAX_SCORER_BYTES.
        Invalid: not JSON, or not these fields.
    """
    if len(data) > MAX_SCORER_BYTES:
        message = f"The file is larger than {MAX_SCORER_BYTES} bytes."
        raise ProgramTooLarge(message, field="scorer")
    try:
        return msgspec.json.decode(data, type=ScorerProgram)
    except msgspec.ValidationError:
        message = 'A program has "language" ("qatlas-expr-v1"), "score" and "filter", all texts.'
        raise Invalid(message, field="scorer") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise Invalid("The file is not JSON in UTF-8.", field="scorer") from None
