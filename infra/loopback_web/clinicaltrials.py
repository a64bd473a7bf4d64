"""clinicaltrials.gov: the studies route of API v2.

Strict: unknown parameters and fields, wrong numbers and wrong filters are 400 with a sentence in plain text. When rates
are enforced: fifty requests a minute, then 429.
"""

import re

import msgspec

from infra.loopback_web import exchange
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.library import Pace
from infra.loopback_web.official import Trial, official
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
# What a field is called (data-api/about-api/study-data-structure) and where its value stands. A date and whether it is
# the actual or an expected one are two fields.
_PROTOCOL = "protocolSection."
_STATUS = f"{_PROTOCOL}statusModule."
_FIELDS = {
    "NCTId": f"{_PROTOCOL}identificationModule.nctId",
    "BriefTitle": f"{_PROTOCOL}identificationModule.briefTitle",
    "BriefSummary": f"{_PROTOCOL}descriptionModule.briefSummary",
    "OverallStatus": f"{_STATUS}overallStatus",
    "WhyStopped": f"{_STATUS}whyStopped",
    "StartDate": f"{_STATUS}startDateStruct.date",
    "StartDateType": f"{_STATUS}startDateStruct.type",
    "PrimaryCompletionDate": f"{_STATUS}primaryCompletionDateStruct.date",
    "PrimaryCompletionDateType": f"{_STATUS}primaryCompletionDateStruct.type",
    "CompletionDate": f"{_STATUS}completionDateStruct.date",
    "CompletionDateType": f"{_STATUS}completionDateStruct.type",
    "StudyFirstPostDate": f"{_STATUS}studyFirstPostDateStruct.date",
    "StudyType": f"{_PROTOCOL}designModule.studyType",
    "Phase": f"{_PROTOCOL}designModule.phases",
    "EnrollmentInfo": f"{_PROTOCOL}designModule.enrollmentInfo",
    "EnrollmentCount": f"{_PROTOCOL}designModule.enrollmentInfo.count",
    "EnrollmentType": f"{_PROTOCOL}designModule.enrollmentInfo.type",
    "LeadSponsorName": f"{_PROTOCOL}sponsorCollaboratorsModule.leadSponsor.name",
    "Condition": f"{_PROTOCOL}conditionsModule.conditions",
    "InterventionType": f"{_PROTOCOL}armsInterventionsModule.interventions.type",
    "InterventionName": f"{_PROTOCOL}armsInterventionsModule.interventions.name",
    "PrimaryOutcomeMeasure": f"{_PROTOCOL}outcomesModule.primaryOutcomes.measure",
    "PrimaryOutcomeTimeFrame": f"{_PROTOCOL}outcomesModule.primaryOutcomes.timeFrame",
    "HasResults": "hasResults",
}
_POSTED = re.compile(
    r"AREA\[StudyFirstPostDate\]RANGE\[([0-9]{4}-[0-9]{2}-[0-9]{2}),([0-9]{4}-[0-9]{2}-[0-9]{2})\]"
)
_SORTS = {"@relevance", "StudyFirstPostDate", "LastUpdatePostDate", "EnrollmentCount"}
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
        if self._pace.refuses(ask.now_ms):
            return exchange.text("Too Many Requests", status=429)
        if ask.path != "/api/v2/studies":
            return exchange.text("Not Found", status=404)
        wrong = _wrong(ask.fields)
        if wrong:
            return msgspec.structs.replace(exchange.text(wrong, status=400), complaint=wrong)
        found = self._found(ask.fields)
        size = int(ask.fields.get("pageSize", "10"))
        paths = [_FIELDS[name].split(".") for name in _chosen(ask.fields)]
        shown = [_study(each) for each in found[:size]]
        body: dict[str, object] = {
            "studies": [_only(each, paths) for each in shown] if paths else shown
        }
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
    size, ids = fields.get("pageSize", "10"), fields.get("filter.ids", "NCT00000000").split("|")
    advanced = fields.get("filter.advanced")
    checks = (
        (bool(unknown), f"Unknown parameter: {', '.join(unknown)}"),
        (not size.isdecimal() or int(size) > 1000, "Parameter `pageSize` has incorrect format"),
        (not set(_chosen(fields)) <= _FIELDS.keys(), "Parameter `fields` has an unknown field"),
        (fields.get("sort", "@relevance") not in _SORTS, "Parameter `sort` has an unknown field"),
        (fields.get("format", "json") != "json", "Parameter `format`: only JSON is served here"),
        (fields.get("countTotal", "true") not in {"true", "false"}, "Bad `countTotal`"),
        (
            advanced is not None and not _POSTED.fullmatch(advanced),
            "Parameter `filter.advanced` has incorrect syntax",
        ),
        (not all(re.fullmatch("NCT[0-9]{8}", each) for each in ids), "Bad `filter.ids`"),
    )
    return next((sentence for is_wrong, sentence in checks if is_wrong), "")


def _chosen(fields: dict[str, str]) -> list[str]:
    return [name for name in re.split("[,|]", fields.get("fields", "")) if name]


def _only(value: object, paths: list[list[str]]) -> object:
    """Return what stands at the paths, in its place; lists are looked through."""
    if isinstance(value, list):
        return [_only(each, paths) for each in value]
    if not isinstance(value, dict) or [] in paths:
        return value
    heads = {path[0] for path in paths}
    return {
        name: _only(each, [path[1:] for path in paths if path[0] == name])
        for name, each in value.items()
        if name in heads
    }


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
