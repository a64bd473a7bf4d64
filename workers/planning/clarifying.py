"""The one clarifying question: what it says, and the question that its answer makes."""

from workers.planning.language import has_han
from workers.planning.override import split_override
from workers.planning.spoken import plain

_LONGEST = 4000  # characters of a query, as the contract has it


def clarifying_question(query: str) -> str:
    """Return what to ask when the wording alone does not tell what is wanted."""
    if has_han(query):
        return "您想了解什么：一个事实、对比、做法、原因、研究综述、最新动态，还是核实？请补充对象与范围。"
    return (
        "What do you want to know: a fact, a comparison, how to do it, why, an overview of research, "
        "the latest, or whether it is true? Please name the subject and its scope."
    )


def clarified(query: str, said: str) -> str:
    """Return the question with the answer behind it. A tier can only be ordered by the question, not by the answer."""
    own = split_override(query)
    prefix = f"/signal {own.tier.value} " if own.tier is not None else ""
    text = f"{own.query.strip()} {' '.join(plain(said).split())}"
    return (prefix + text)[:_LONGEST]
