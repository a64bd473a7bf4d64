"""What is left of a cancelled job is taken out of the queues; what it had approved by then is asked for once more."""

from dataclasses import dataclass

from signal_search.contracts.job import AdaptiveSpec, AnySpec

from api_gateway.places import Places
from api_gateway.progress import Tally, tally
from api_gateway.submission import Ring
from budget.frontier import Frontier
from budget.ledger import Ledger
from budget.policy import job_level
from infra.job_log import JobLog, Located
from infra.job_store import JobStore
from infra.steps import Steps


@dataclass(frozen=True)
class Clearing:
    """The tools it takes. Everything here may be done again."""

    log: JobLog
    store: JobStore
    ledger: Ledger
    frontier: Frontier
    steps: Steps
    places: Places
    ring: Ring

    def clear(self, spec: AnySpec) -> None:
        """Drop a job's fetches, holds, steps and place."""
        state = tally_of(self.log.read(spec.id))
        waiting = [
            (each.uid, each.host, f"{spec.id}|{each.fetch_id}") for each in state.open_fetches()
        ]
        self.frontier.cancel(spec.id, waiting)
        self.ledger.close(job_level(spec.id))
        for name in ("plan", "reduce", *(f"crawl/{call_id}" for call_id in state.planned)):
            self.steps.drop(f"{spec.id}/{name}")
        self.places.free(spec.id, spec.tenant)
        self.store.forget(spec.id)

    def ask_for_rest(self, spec: AnySpec) -> None:
        """Let a worker publish what an adaptive search had approved: that stays readable (adaptive search guide)."""
        if isinstance(spec, AdaptiveSpec):
            step_id = f"{spec.id}/reduce"
            self.steps.make(step_id, "reduce")
            self.ring([("reduce", step_id)])


def tally_of(entries: list[Located]) -> Tally:
    """Return the progress that a log describes."""
    return tally(entry for _id, entry in entries)
