"""What a crawl's job has come to, read from the store for its owner."""

from signal_search.contracts.budget import Budget
from signal_search.contracts.job import RetrieveSpec
from signal_search.contracts.query import RetrieveRequest
from signal_search.contracts.trace import FetchFinished
from signal_search.errors import NotFound

from api_gateway.compat.crawl_walk import Crawl, walked
from api_gateway.compat.firecrawl_crawl import is_crawl
from api_gateway.desk import Desk
from api_gateway.owners import Reader
from infra.job_log import JobLog


def read_crawl(desk: Desk, log: JobLog, job_id: str, reader: Reader) -> Crawl:
    """Return a reader's crawl; raises as `Desk.job`, and NotFound for a job of another kind."""
    spec = desk.owned(job_id, reader).spec
    if not isinstance(spec, RetrieveSpec) or not is_crawl(spec.request):
        raise NotFound("There is no such job.", code="job_not_found")
    # The state first: of a job that has ended, the log has then everything.
    job = desk.job(job_id, reader)
    entries = [entry for _id, entry in log.read(job_id)]
    ends = [each for each in entries if isinstance(each, FetchFinished)]
    ids = list(dict.fromkeys(each for end in ends for each in end.documents))
    found = walked(entries, log.documents(job_id, ids), limit=_limit(spec.request, len(ids)))
    return Crawl(job=job, result_ttl_s=spec.result_ttl_s, walked=found)


def _limit(request: RetrieveRequest, most: int) -> int:
    budget = request.budget
    named = budget.fetches if isinstance(budget, Budget) else None
    return most if named is None else named
