"""Driver `delegate`: the caller's own model answers. The questions are an entry of the job's log, and so is the answer.

A delegation has an id, a deadline and the questions; the answer is checked against them before it is written down. One
that comes too late, twice or for another delegation is refused. What carries it to the caller is a view of the log.
"""

from collections.abc import Mapping
from typing import Any

from signal_search.contracts.judging import Judgements, Questions
from signal_search.contracts.trace import Answered, Delegated
from signal_search.errors import Conflict, Invalid, NotFound

from infra.job_log import JobLog
from workers.screening.answers import read_answers


def answer(
    log: JobLog, job_id: str, delegation: str, answers: Mapping[str, Any], *, now_ms: int
) -> Judgements:
    """Write down what the caller's model answered (id -> answer in the typed protocol's form), and return it.

    Raises:
        NotFound: `delegation_not_found`: the job asks nothing of that id.
        Conflict: `delegation_closed`: it was answered, or its time is over, or the job has ended.
        Invalid: `answers`: no answer in it belongs to a question.
    """
    entries = [entry for _id, entry in log.read(job_id)]
    asked = next((e for e in entries if isinstance(e, Delegated) and e.id == delegation), None)
    if asked is None:
        raise NotFound("This job asks nothing of that id.", code="delegation_not_found")
    is_answered = any(isinstance(e, Answered) and e.id == delegation for e in entries)
    if is_answered or now_ms > asked.until_ms:
        raise Conflict("This delegation is closed.", code="delegation_closed")
    said = _checked(asked.questions, answers)
    entry = Answered(at_ms=now_ms, key=f"answered:{delegation}", id=delegation, said=said)
    if not log.append(job_id, entry)[0]:
        raise Conflict("This delegation is closed.", code="delegation_closed")
    return said


def _checked(questions: Questions, answers: Mapping[str, Any]) -> Judgements:
    said = read_answers(questions, answers, attempts=0)
    if not said.nouls and not said.choices:
        raise Invalid("No answer belongs to a question.", field="answers")
    return said
