"""What an undisturbed run answers, asked once; every disturbed run is compared with it."""

from typing import Any

import pytest

from tests.chaos.stage import assert_charged_once, assert_ended_once, assert_polite, facts, stage


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    with stage(tmp_path_factory.mktemp("calm"), {"crawl": 1, "reduce": 1}) as on:
        on.submit()
        result = on.finish()
        assert result.findings
        assert_charged_once(on, result)
        assert_ended_once(on)
        assert_polite(on)
        return facts(result)
