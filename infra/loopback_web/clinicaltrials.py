"""clinicaltrials.gov: the studies route of API v2.

Strict: unknown parameters and fields, wrong numbers and wrong filters are 400 with a sentence in plain text. When rates
are enforced: fifty requests a minute, then 429.
"""

import re

import msgspec

from infra.loopback_web import exchange
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.official import Pace, Trial, official
from infra.loopback_web.search import Index

_KNOWN = {
    "query.term",
    "query.cond",
    "query.intr",
    "filter.ids",
    "filter.advanced",
    "fields",
    "sort",
}
_KNOWN |= {"pageSize", "pageToken", "countTotal", "format", "markupFormat"}
_FIELDS = frozenset(
    re.findall(
        r"\w+",
        "NCTId BriefTitle BriefSummary OverallStatus WhyStopped StartDate PrimaryCompletionDate CompletionDate "
        "StudyFirstPostDate StudyType Phase EnrollmentInfo LeadSponsorName Condition InterventionType InterventionName "
        "PrimaryOutcomeMeasure PrimaryOutcomeTimeFrame HasResults OfficialTitle Acronym",
    )
)
_POSTED = re.compile(
    r"AREA\[StudyFirstPostDate\]RANGE\[([0-9]{4}-[0-9]{2}-[0-9]{2}),([0-9]{4}-[0-9]{2}-[0-9]{2})\]"
)
_MIN_SHARE = 0.5


class ClinicalTrials:
    """The register of studies."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        """Serve the studies of the corpus."""
        self._trials = official().trial
        self._index = Index([(each.title, _searchable(each)) for each in self._trials])
        self._pace = Pace(50, 60_000, enforced=enforce_pace)

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        if self._pace.is_exceeded(ask.now_ms):
            return exchange.text("Too Many Requests", status=429)
        if ask.path != "/api/v2/studies":
            return exchange.text("Not Found", status=404)
        wrong = _wrong(ask.fields)
        if wrong:
            return msgspec.structs.replace(exchange.text(wrong, status=400), complaint=wrong)
        found = self._found(ask.fields)
        size = int(ask.fields.get("pageSize", "10"))
        body: dict[str, object] = {"studies": [_study(each) for each in found[:size]]}
        if ask.fields.get("countTotal") == "true":
            body["totalCount"] = len(found)
        return exchange.json(body)

    def _found(self, fields: dict[str, str]) -> list[Trial]:
        found = self._trials
        if "query.term" in fields:
            ranked = self._index.rank(fields["query.term"], share=_MIN_SHARE)
            found = [self._trials[number] for number in ranked]
        if "filter.ids" in fields:
            found = [each for each in found if each.nct in fields["filter.ids"].split("|")]
        posted = _POSTED.fullmatch(fields.get("filter.advanced", ""))
        return [each for each in found if not posted or posted[1] <= each.posted <= posted[2]]


def _searchable(trial: Trial) -> str:
    given = (name for _type, name in trial.interventions)
    return " ".join((trial.nct, trial.summary, trial.sponsor, *trial.conditions, *given))


def _wrong(fields: dict[str, str]) -> str:
    unknown = sorted(fields.keys() - _KNOWN)
    if unknown:
        return f"Unknown parameter: {unknown[0]}"
    size = fields.get("pageSize", "10")
    if not size.isdecimal() or int(size) > 1000:
        return "Parameter `pageSize` has incorrect format"
    if set(filter(None, fields.get("fields", "").split(","))) - _FIELDS:
        return "Parameter `fields` has an unknown field"
    if "filter.advanced" in fields and not _POSTED.fullmatch(fields["filter.advanced"]):
        return "Parameter `filter.advanced` has incorrect syntax"
    ids = fields.get("filter.ids", "NCT00000000").split("|")
    return "" if all(re.fullmatch("NCT[0-9]{8}", each) for each in ids) else "Bad `filter.ids`"


def _study(trial: Trial) -> dict[str, object]:
    kind = "ACTUAL" if trial.done else "ESTIMATED"
    return {
        "protocolSection": {
            "identificationModule": {"nctId": trial.nct, "briefTitle": trial.title},
            "statusModule": {
                "overallStatus": trial.status,
                "startDateStruct": {"date": trial.start, "type": "ACTUAL"},
                "primaryCompletionDateStruct": {"date": trial.primary, "type": kind},
                "completionDateStruct": {"date": trial.completion, "type": kind},
                "studyFirstPostDateStruct": {"date": trial.posted, "type": "ACTUAL"},
            },
            "sponsorCollaboratorsModule": {"leadSponsor": {"name": trial.sponsor}},
            "descriptionModule": {"briefSummary": trial.summary},
            "conditionsModule": {"conditions": trial.conditions},
            "designModule": {
                "studyType": trial.type,
                "phases": trial.phases,
                "enrollmentInfo": {"count": trial.count, "type": trial.count_type},
            },
            "armsInterventionsModule": {
                "interventions": [
                    {"type": kind, "name": name} for kind, name in trial.interventions
                ]
            },
            "outcomesModule": {
                "primaryOutcomes": [{"measure": trial.outcome, "timeFrame": trial.frame}]
            },
        },
        "hasResults": trial.results,
    }
