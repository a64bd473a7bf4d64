"""One emulated web per module of tests, with an empty log and no faults before each test."""

from collections.abc import Iterator

import httpx
import pytest

from infra.loopback_web import LoopbackWeb
from tests.fakes.caller import agent


@pytest.fixture(scope="module")
def served() -> Iterator[LoopbackWeb]:
    with LoopbackWeb() as web:
        yield web


@pytest.fixture
def web(served: LoopbackWeb) -> LoopbackWeb:
    served.log.clear()
    served.faults.clear()
    return served


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with agent() as client:
        yield client
