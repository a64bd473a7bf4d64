"""After the decision to stop: ask whoever judges and helps, once, and go on when the answers are in the log."""

from collections.abc import Mapping

from signal_search.contracts.budget import Dimension
from signal_search.contracts.delegation import Question
from signal_search.contracts.document import Document
from signal_search.contracts.job import JobState
from signal_search.contracts.query import DelegationKind
from signal_search.contracts.trace import Stopped

from infra.job_store import StoredJob
from workers.pipeline.answer_questions import questions_of
from workers.pipeline.answer_schema import kind_of
from workers.pipeline.delegating import Asking, Reach, offer_of
from workers.pipeline.draft import drafted, evidence_of
from workers.pipeline.judges import Collector, ask_operator, withheld
from workers.pipeline.model_calls import asking, figures_for
from workers.pipeline.rules import Rules
from workers.pipeline.state import JobView, fold, retrieve_request
from workers.toolbox import Toolbox

_BEFORE_THE_PLAN = frozenset(
    {
        DelegationKind.TIER_CLASSIFY,
        DelegationKind.CLARIFY,
        DelegationKind.ROUTE,
        DelegationKind.OUTLINE_CONFIRM,
    }
)


def consult(tools: Toolbox, view: JobView, documents: Mapping[str, Document], rules: Rules) -> bool:
    """Ask what the drafted answer leaves open; True when the log may say more than `view`.

    The caller is asked what its request offers. The operator's model judges claims where the settings say so and the
    caller's does not; where research memory was asked it is noted that it did not.

    Raises:
        Postpone: an answer of the caller may still come.
    """
    plan, spec = view.require()
    offered = set(retrieve_request(spec).delegate) - _BEFORE_THE_PLAN
    has_operator = _has_operator(tools) and DelegationKind.ENTAIL not in offered
    if not offered and not has_operator:
        return False
    view = _until_stopped(view)
    most = tools.settings.delegation.max_pairs
    heard = Collector(most)
    draft = drafted(view, evidence_of(view, documents), rules, heard)
    stored = StoredJob(spec=spec, state=JobState.REDUCING)
    if has_operator and heard.pairs:
        _ask_operator(tools, stored, heard)
    questions = questions_of(plan, draft, heard, most)
    _ask_caller(tools, stored, questions, plan.deadline_ms)
    return True


def _until_stopped(view: JobView) -> JobView:
    at = next((n for n, each in enumerate(view.entries, 1) if isinstance(each, Stopped)), 0)
    return fold(view.entries[:at])


def _has_operator(tools: Toolbox) -> bool:
    return tools.settings.verify.judge == "operator" and tools.settings.search.has_model


def _ask_operator(tools: Toolbox, stored: StoredJob, heard: Collector) -> None:
    view = fold(entry for _id, entry in tools.log.read(stored.spec.id))
    if view.judged is not None:
        return
    plan, spec = view.require()
    # What is of a scope is not for the operator's model: claims may be words of its memory.
    if retrieve_request(spec).constraints.scope is not None:
        tools.log.append(spec.id, withheld(tools.clock.now_ms()))
        return
    limits = {Dimension(name): amount for name, amount in plan.limits.items()}
    model = asking(tools, stored, "judge", limits)
    figures = figures_for(tools, stored, share=1.0)
    tools.log.append(
        stored.spec.id, ask_operator(heard.pairs, figures, model, tools.clock.now_ms())
    )


def _ask_caller(
    tools: Toolbox, stored: StoredJob, questions: Mapping[str, Question], until_ms: int
) -> None:
    view = fold(entry for _id, entry in tools.log.read(stored.spec.id))
    request = retrieve_request(stored.spec)
    offer = offer_of(request.delegate, request.budget)
    asked = Asking(tools, stored.spec.id, view, Reach(until_ms), offer)
    wanted = {name: each for name, each in questions.items() if asked.offers(kind_of(each))}
    if wanted:
        asked.answers(wanted)
