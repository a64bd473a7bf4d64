"""What a search's hits say together: the one entry for hits in this folder. Pure, no model, the same on every run."""

from collections.abc import Sequence
from datetime import date

from msgspec import structs
from signal_search.contracts.hit import RankedHit
from signal_search.contracts.hit_synthesis import HitSynthesis
from signal_search.contracts.search_plan import SearchPlan

from scoring.claims.rules import VerifyRules
from workers.synthesis.hit_answer import answer_of
from workers.synthesis.hit_layout import TOP, layout_of
from workers.synthesis.hit_text import hits_as_text
from workers.synthesis.hit_topics import topics_of_hits
from workers.synthesis.wording import language_of


def synthesise(
    hits: Sequence[RankedHit], plan: SearchPlan, rules: VerifyRules, *, model_answer: str = ""
) -> HitSynthesis:
    """Return the synthesis of hits in the order in which they are shown.

    model_answer: what a source itself answered; it is shown as that, and nothing rests on it.
    """
    layout = layout_of(len(hits))
    forms = (*plan.score_variants, *(each.text for each in plan.sub_queries))
    answer = answer_of(hits, forms, date.fromisoformat(plan.today), rules)
    has_topics = layout in {"topics", "overview"}
    parts = HitSynthesis(
        layout=layout,
        language=language_of(plan.language),
        text="",
        answer=answer.statement,
        topics=topics_of_hits([each.hit for each in hits], forms) if has_topics else (),
        top=tuple(range(1, TOP + 1)) if layout == "overview" else (),
        disagreements=answer.disagreements,
        model_answer=model_answer,
    )
    return structs.replace(parts, text=hits_as_text(parts, hits))
