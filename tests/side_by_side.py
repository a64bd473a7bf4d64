"""How the files of tests are shared out among processes: from both ends, a whole file to each.

The suites stand from cheap to dear. All processes but one take the cheap ones, which compute; the last process takes
the dear ones, which start whole stacks and wait for real clocks. So the two kinds fill each other's pauses, and stacks
seldom run beside stacks, until they meet.
"""

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController


class FromBothEnds(LoadFileScheduling):
    """Keeps a file in one process, for its fixtures' sake, and the order in which the suites were named."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        config.option.loadscopereorder = False  # else by the number of tests, which says little
        super().__init__(config, log)

    def _assign_work_unit(self, node: WorkerController) -> None:
        if len(self.nodes) > 1 and node is self.nodes[-1]:
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)
