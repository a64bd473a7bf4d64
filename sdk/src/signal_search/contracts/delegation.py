"""What a job asks of its caller's own model or person: typed questions, what may be answered, and what became of them.

A job asks only what its request says the caller can answer, waits until the question's deadline, and goes on by its
rules after that. Answers are data: they choose among the options of the question or supply text.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from signal_search.contracts.document import Author
from signal_search.contracts.finding import Verdict
from signal_search.contracts.judging import Screen, ScreenAnswer
from signal_search.contracts.query import DelegationKind, Intent, Tier

Text = Annotated[str, Meta(min_length=1, max_length=2000)]
LongText = Annotated[str, Meta(min_length=1, max_length=16_000)]
Opinion = Literal["contradict", "agree", "unrelated"]


class Shown(Struct, frozen=True, kw_only=True):
    """A passage of a fetched document as it is shown to whoever answers; `number` (from 1) is what answers name."""

    number: int
    url: str
    text: str


class Statements(Struct, frozen=True, kw_only=True):
    """Two passages that may or may not say the same."""

    first: Shown
    second: Shown


class ClaimPassage(Struct, frozen=True, kw_only=True):
    """A claim, and the passage that may or may not entail it."""

    claim: str
    passage: str
    url: str


class Work(Struct, frozen=True, kw_only=True):
    """A cited work without a DOI, as its record describes it."""

    title: str
    authors: tuple[Author, ...]
    arxiv_id: str = ""
    published: str = ""
    url: str = ""


class Snippet(Struct, frozen=True, kw_only=True):
    """A claim that depends on what code does, and the code in it."""

    claim: str
    code: str
    url: str


class Candidate(Struct, frozen=True, kw_only=True):
    """A source that may be chosen."""

    id: str
    name: str
    category: str = ""


class TierClassify(Struct, frozen=True, kw_only=True, tag_field="kind", tag="tier_classify"):
    """How deep should this question be looked into?"""

    query: str
    suggested: Tier
    options: tuple[Tier, ...]


class Clarify(Struct, frozen=True, kw_only=True, tag_field="kind", tag="clarify"):
    """What is meant by this question? Asked once, when its wording alone does not tell."""

    query: str
    text: str
    suggested: Intent


class OutlineConfirm(Struct, frozen=True, kw_only=True, tag_field="kind", tag="outline_confirm"):
    """Are these the sub-questions to look into? `most`: how many there may be."""

    query: str
    outline: str
    most: int


class Route(Struct, frozen=True, kw_only=True, tag_field="kind", tag="route"):
    """Which of these sources should be asked? `suggested` are those that the rules would ask."""

    query: str
    candidates: tuple[Candidate, ...]
    suggested: tuple[str, ...]
    most: int


class ConflictCheck(Struct, frozen=True, kw_only=True, tag_field="kind", tag="conflict_check"):
    """Do these statements of different sources contradict each other?"""

    pairs: tuple[Statements, ...]


class Entail(Struct, frozen=True, kw_only=True, tag_field="kind", tag="entail"):
    """Does each passage state its claim? Asked only where the rules cannot tell."""

    pairs: tuple[ClaimPassage, ...]


class AgentTask(Struct, frozen=True, kw_only=True, tag_field="kind", tag="agent_task"):
    """What do these passages say about one part of the question? What they do not bear out is shown as open."""

    query: str
    task: str
    dimension: str
    passages: tuple[Shown, ...]


class DoiResolve(Struct, frozen=True, kw_only=True, tag_field="kind", tag="doi_resolve"):
    """Which DOI has each of these works? One whose title or authors differ is not taken."""

    works: tuple[Work, ...]


class Execute(Struct, frozen=True, kw_only=True, tag_field="kind", tag="execute"):
    """What happens when this code is run? Nothing is run here."""

    snippets: tuple[Snippet, ...]


class RelevanceJudge(Struct, frozen=True, kw_only=True, tag_field="kind", tag="relevance_judge"):
    """Which of these passages speak to the question?"""

    question: str
    passages: tuple[Shown, ...]


Question = (
    TierClassify
    | Clarify
    | OutlineConfirm
    | Route
    | ConflictCheck
    | Entail
    | AgentTask
    | DoiResolve
    | Execute
    | RelevanceJudge
    | Screen
)


class TierAnswer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of the options."""

    tier: Tier


class TextAnswer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is meant, in words that are added to the question."""

    text: Text


class OutlineAnswer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The outline as it should be; the same text confirms it."""

    outline: LongText


class RouteAnswer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Ids of candidates."""

    sources: tuple[str, ...]


class ConflictAnswer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One opinion for each pair, in their order."""

    opinions: tuple[Opinion, ...]


class EntailAnswer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One verdict for each pair, in their order."""

    verdicts: tuple[Verdict, ...]


class AgentAnswer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the passages say, in whole sentences."""

    text: LongText


class ResolvedWork(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A DOI, and the title and authors' family names that are registered with it."""

    doi: Annotated[str, Meta(max_length=300)]
    title: Annotated[str, Meta(max_length=2000)]
    authors: tuple[Annotated[str, Meta(max_length=300)], ...]


class DoiAnswer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry for each work, in their order; null where there is none."""

    works: tuple[ResolvedWork | None, ...]


class Run(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What came of running a snippet: not run, or whether it did what the claim says, and what it printed."""

    ran: bool
    agrees: bool = False
    output: Annotated[str, Meta(max_length=4000)] = ""


class ExecuteAnswer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One run for each snippet, in their order."""

    runs: tuple[Run, ...]


class RelevanceAnswer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Numbers of the passages that speak to the question."""

    relevant: tuple[int, ...]


Answer = (
    TierAnswer
    | TextAnswer
    | OutlineAnswer
    | RouteAnswer
    | ConflictAnswer
    | EntailAnswer
    | AgentAnswer
    | DoiAnswer
    | ExecuteAnswer
    | RelevanceAnswer
    | ScreenAnswer
)

ANSWERS: dict[DelegationKind, type[Answer]] = {
    DelegationKind.TIER_CLASSIFY: TierAnswer,
    DelegationKind.CLARIFY: TextAnswer,
    DelegationKind.OUTLINE_CONFIRM: OutlineAnswer,
    DelegationKind.ROUTE: RouteAnswer,
    DelegationKind.CONFLICT_CHECK: ConflictAnswer,
    DelegationKind.ENTAIL: EntailAnswer,
    DelegationKind.AGENT_TASK: AgentAnswer,
    DelegationKind.DOI_RESOLVE: DoiAnswer,
    DelegationKind.EXECUTE: ExecuteAnswer,
    DelegationKind.RELEVANCE_JUDGE: RelevanceAnswer,
    DelegationKind.SCREEN: ScreenAnswer,
}
"""The type of each kind's answer; what the question itself allows is narrower and stands in its JSON schema."""


class Delegation(Struct, frozen=True, kw_only=True):
    """One question of a job to its caller. id: unique in the job. deadline_ms: when the job goes on without an answer.

    answer_schema is JSON Schema (2020-12) and exactly what is accepted.
    """

    id: str
    kind: DelegationKind
    question: Question
    answer_schema: dict[str, object]
    deadline_ms: int


class DelegationState(Struct, frozen=True, kw_only=True):
    """A delegation and what became of it: `lapsed` when its deadline passed, `declined` when the caller had no answer.

    answer: as it was accepted. tokens: what the caller says its model used.
    """

    delegation: Delegation
    state: Literal["open", "answered", "declined", "lapsed"]
    asked_at_ms: int
    answer: dict[str, object] | None = None
    tokens: int = 0


class DelegationReply(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a caller sends: an answer by the question's schema, or `decline` so that the job need not wait."""

    answer: dict[str, object] | None = None
    decline: bool = False
    tokens: Annotated[int, Meta(ge=0, le=10**9)] = 0
