"""What an undisturbed run answers, asked once; every disturbed run is compared with it."""

from typing import Any

import pytest

from tests.chaos.stage import facts_undisturbed


@pytest.fixture(scope="session")
def undisturbed() -> dict[str, Any]:
    return facts_undisturbed()
