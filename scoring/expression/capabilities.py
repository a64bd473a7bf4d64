"""What the language can do, as data: for a caller, for a model that writes programs, and for the command line."""

from typing import Any


def capabilities(*, generation_available: bool | None) -> dict[str, Any]:
    """Return language, features, functions, operators, limits and error codes as plain JSON values.

    `generation_available` is left out when None: the command line does not know.
    """
    raise NotImplementedError
