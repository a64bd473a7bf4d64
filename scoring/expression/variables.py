"""The six features a program may read, as the language sees them; `scoring/features.py` computes them."""

from msgspec import Struct

from scoring.expression.types import NULLABLE, NUMBER, Type


class Feature(Struct, frozen=True, kw_only=True):
    """A feature of a candidate (scorer guide, section 4)."""

    type: Type
    description: str
    range: str


FEATURES: dict[str, Feature] = {
    "lexical": Feature(
        type=NUMBER,
        description="Share of the query's words found: in full in the title, by half in the abstract alone",
        range="0 to 1",
    ),
    "phrase": Feature(
        type=NUMBER,
        description="0.5 for each quoted phrase of the query in the title, else 0.25 in the abstract, summed",
        range="0 and up; above 1 with several phrases",
    ),
    "citations": Feature(
        type=NULLABLE,
        description="Citations counted so far; null when no source reports them, 0 when one reports none",
        range="0 and up",
    ),
    "year": Feature(
        type=NULLABLE,
        description="Year of publication; null when unknown",
        range="1 and up",
    ),
    "age_years": Feature(
        type=NULLABLE,
        description="Years from publication to the reference year of the request; 0 for a later one, null when unknown",
        range="0 and up",
    ),
    "source_count": Feature(
        type=NUMBER,
        description="Number of different sources that reported the merged candidate",
        range="0 and up",
    ),
}
