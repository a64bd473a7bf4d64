"""A time that a text names: where, how, and whether it can be meant otherwise."""

from typing import Literal

from msgspec import Struct

from scoring.times.period import Period

Form = Literal["unit", "range", "open"]


class Mention(Struct, frozen=True):
    """A time as named at characters [start, end) of a text.

    form: a unit of the calendar (2024, May), a stretch with two ends (2019 to 2021), or one with an open end (since
    2020). is_sure: nothing but a time is meant; a bare 2008 may be a number or a model's name.
    """

    period: Period
    start: int
    end: int
    form: Form = "unit"
    is_sure: bool = True
