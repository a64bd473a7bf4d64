"""ClinicalTrials.gov API v2: registered studies, their design, status, size and dates as short sentences.

An enrolment is either what happened or what is hoped for; the record says which, and so does the sentence.
"""

import re

from msgspec import Struct
from signal_search.contracts.document import Author, Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import address, call
from workers.records import days_of, iso, left_out, lines, read_json, readable, size_of, words_of

_MAX_PAGE = 1000
_MOST_WORDS = 6
_NCT = re.compile(r"(?i)(?<![A-Za-z0-9])NCT[0-9]{8}(?![0-9])")
# Without `fields` a study brings its sites and results, often hundreds of kilobytes.
_FIELDS = (
    "NCTId,BriefTitle,BriefSummary,OverallStatus,WhyStopped,StartDate,StartDateType,PrimaryCompletionDate,"
    "PrimaryCompletionDateType,CompletionDate,CompletionDateType,StudyFirstPostDate,StudyType,Phase,EnrollmentInfo,LeadSponsorName,Condition,InterventionType,InterventionName,"
    "PrimaryOutcomeMeasure,PrimaryOutcomeTimeFrame,HasResults"
)


_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


class _Date(Struct, frozen=True):
    date: str | None = None
    type: str | None = None


class _Identification(Struct, frozen=True, rename="camel"):
    nct_id: str
    brief_title: str | None = None


class _Status(Struct, frozen=True, rename="camel"):
    overall_status: str | None = None
    why_stopped: str | None = None
    start_date_struct: _Date = _Date()
    primary_completion_date_struct: _Date = _Date()
    completion_date_struct: _Date = _Date()
    study_first_post_date_struct: _Date = _Date()


class _Enrollment(Struct, frozen=True):
    count: int | None = None
    type: str | None = None


class _Design(Struct, frozen=True, rename="camel"):
    study_type: str | None = None
    phases: list[str] | None = None
    enrollment_info: _Enrollment = _Enrollment()


class _Sponsor(Struct, frozen=True):
    name: str | None = None


class _Sponsors(Struct, frozen=True, rename="camel"):
    lead_sponsor: _Sponsor = _Sponsor()


class _Conditions(Struct, frozen=True):
    conditions: list[str] | None = None


class _Intervention(Struct, frozen=True):
    name: str
    type: str | None = None


class _Interventions(Struct, frozen=True):
    interventions: list[_Intervention] | None = None


class _Outcome(Struct, frozen=True, rename="camel"):
    measure: str
    time_frame: str | None = None


class _Outcomes(Struct, frozen=True, rename="camel"):
    primary_outcomes: list[_Outcome] | None = None


class _Description(Struct, frozen=True, rename="camel"):
    brief_summary: str | None = None


class _Protocol(Struct, frozen=True, rename="camel"):
    identification_module: _Identification
    status_module: _Status = _Status()
    design_module: _Design = _Design()
    sponsor_collaborators_module: _Sponsors = _Sponsors()
    conditions_module: _Conditions = _Conditions()
    arms_interventions_module: _Interventions = _Interventions()
    outcomes_module: _Outcomes = _Outcomes()
    description_module: _Description = _Description()


class _Study(Struct, frozen=True, rename="camel"):
    protocol_section: _Protocol
    has_results: bool | None = None


class _Body(Struct, frozen=True, rename="camel"):
    studies: list[object]
    total_count: int | None = None


class ClinicalTrials:
    """Clinical studies, as their sponsors registered them."""

    name: str = "clinicaltrials"
    pushes_down: frozenset[str] = frozenset({"freshness"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one request: for the studies whose numbers are in the question, else a search of all fields.

        A freshness `A..B` becomes a filter on the day a study was first posted.
        """
        ids = list(dict.fromkeys(each.upper() for each in _NCT.findall(ask.text)))[:10]
        fields = {"filter.ids": "|".join(ids)} if ids else _search(ask)
        fields |= {
            "fields": _FIELDS,
            "pageSize": str(size_of(ask, _MAX_PAGE)),
            "countTotal": "true",
            "format": "json",
        }
        url = address(self._config, self._config.endpoint, fields, safe="|,")
        return (call(self._config, self.name, url),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn studies into documents of sentences and summary.

        Raises:
            BadReply: HTML, plain text, truncated or wrong-shaped JSON.
        """
        del request
        body = read_json(reply, _Body)
        studies = readable(body.studies, _Study)
        known = [each for each in studies if _NCT.fullmatch(_id(each))]
        return Parsed(
            documents=tuple(self._document(study, reply) for study in known),
            total=body.total_count,
            note=left_out(len(body.studies), len(known)),
        )

    def _document(self, study: _Study, reply: Reply) -> Document:
        protocol = study.protocol_section
        posted = iso(protocol.status_module.study_first_post_date_struct.date)
        sponsor = protocol.sponsor_collaborators_module.lead_sponsor.name or ""
        return make_document(
            url=f"https://clinicaltrials.gov/study/{_id(study).upper()}",
            title=protocol.identification_module.brief_title or _id(study).upper(),
            text=_text(study),
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=DocumentFacts(
                language="en",
                published=posted,
                date_kind="record" if posted else "none",
                authors=(Author(literal=sponsor),) if sponsor else (),
                container="ClinicalTrials.gov",
                publisher="U.S. National Library of Medicine",
                work_type="report",
                source_type=self._config.source_type,
                signals=("registered_by_the_sponsor",),
            ),
        )


def _search(ask: SourceQuery) -> dict[str, str]:
    words = words_of(ask, most=_MOST_WORDS, hyphens=False)
    fields = {"query.term": " ".join(words) or "study", "sort": "@relevance"}
    days = days_of(ask.freshness)
    if days:
        fields["filter.advanced"] = f"AREA[StudyFirstPostDate]RANGE[{days[0]},{days[1]}]"
    return fields


def _id(study: _Study) -> str:
    return study.protocol_section.identification_module.nct_id


def _text(study: _Study) -> str:
    protocol = study.protocol_section
    sentences = [
        _design(study),
        *_progress(protocol.status_module),
        _enrolment(protocol.design_module.enrollment_info),
        _listed("The conditions studied are", protocol.conditions_module.conditions or []),
        _listed("The interventions are", _interventions(protocol.arms_interventions_module)),
        _listed("The primary outcomes are", _outcomes(protocol.outcomes_module)),
        _results(study.has_results),
    ]
    facts = "\n".join(each for each in sentences if each)
    summary = lines(protocol.description_module.brief_summary)
    # Long texts are Markdown, in which "\>=" is ">=".
    return _ESCAPED.sub(r"\1", f"{facts}\n\n{summary}".strip())


def _results(posted: bool | None) -> str:  # noqa: FBT001
    return {True: "Results have been posted.", False: "No results have been posted.", None: ""}[
        posted
    ]


def _words(code: str | None) -> str:
    return (code or "").replace("_", " ").lower()


def _design(study: _Study) -> str:
    protocol = study.protocol_section
    phases = [
        _words(each).replace("phase", "phase ") for each in protocol.design_module.phases or ()
    ]
    phase = "/".join(each for each in phases if each and each != "na")
    kind = " ".join(filter(None, (phase, _words(protocol.design_module.study_type))))
    sponsor = protocol.sponsor_collaborators_module.lead_sponsor.name
    title = protocol.identification_module.brief_title
    called = f' "{title}"' if title else ""
    by = f" sponsored by {sponsor}" if sponsor else ""
    article = "an" if kind[:1] in {"i", "o", "e"} else "a"
    return f"{_id(study).upper()}{called} is {article} {f'{kind} study'.strip()}{by}."


def _progress(status: _Status) -> list[str]:
    told = [f"Its status is {_words(status.overall_status)}."] if status.overall_status else []
    if status.why_stopped:
        told.append(f"It was stopped because: {status.why_stopped.strip().rstrip('.')}.")
    told += [
        _dated("It started on", "It is expected to start on", status.start_date_struct),
        _dated(
            "Its primary completion was on",
            "Its primary completion is expected on",
            status.primary_completion_date_struct,
        ),
        _dated(
            "It was completed on",
            "Its completion is expected on",
            status.completion_date_struct,
        ),
    ]
    return told


def _dated(past: str, future: str, when: _Date) -> str:
    day = iso(when.date)
    words = future if when.type == "ESTIMATED" else past
    return f"{words if len(day) == 10 else words.removesuffix('on') + 'in'} {day}." if day else ""


def _enrolment(enrolled: _Enrollment) -> str:
    if enrolled.count is None:
        return ""
    people = f"{enrolled.count:,} participant" + ("" if enrolled.count == 1 else "s")
    if enrolled.type == "ESTIMATED":
        return f"It is expected to enroll {people} (an estimate)."
    return f"It enrolled {people}" + (" (the actual number)." if enrolled.type == "ACTUAL" else ".")


def _interventions(module: _Interventions) -> list[str]:
    given = module.interventions or ()
    return [f"{each.name} ({_words(each.type)})" if each.type else each.name for each in given]


def _outcomes(module: _Outcomes) -> list[str]:
    asked = module.primary_outcomes or ()
    return [
        f"{each.measure} ({each.time_frame})" if each.time_frame else each.measure for each in asked
    ]


def _listed(start: str, items: list[str]) -> str:
    return f"{start} {'; '.join(items[:8])}." if items else ""
