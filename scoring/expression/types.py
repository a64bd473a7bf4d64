"""What a value can be: a number or a boolean; a number may be missing. Nothing is converted into anything else."""

from msgspec import Struct


class Type(Struct, frozen=True):
    """The type of a part of an expression, known before it is run."""

    is_number: bool
    is_nullable: bool = False


NUMBER = Type(is_number=True)
NULLABLE = Type(is_number=True, is_nullable=True)
BOOLEAN = Type(is_number=False)
