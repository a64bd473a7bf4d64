"""The description and the gateway agree: generated requests get only what the description promises, never a 500."""

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from redis import Redis
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from api_gateway.app import ROUTES
from api_gateway.endpoints import ENDPOINTS
from api_gateway.openapi import DESCRIPTION
from api_gateway.paths import COMPAT
from infra.settings import load
from tests.fakes.gateway import running

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
# A valid change of settings would be written to the working folder: tests/contract/test_admin.py has one of its own.
WRITES = ("put", "/v1/admin/config")
TRIED = [
    each
    for each in ENDPOINTS
    if each.path not in {"/readyz", "/metrics"} and (each.method, each.path) != WRITES
]


@pytest.fixture(scope="module")
def address(redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = str(tmp_path_factory.mktemp("schema"))
    no_waiting = {"max_wait_s": 0}
    with running(load(redis_url=redis_url, data_dir=folder, gateway=no_waiting)) as client:
        yield str(client.base_url)


@pytest.mark.timeout(150)
@pytest.mark.parametrize("endpoint", TRIED, ids=lambda each: f"{each.method} {each.path}")
def test_generated_requests_get_what_is_described(endpoint, address: str, redis: Redis):
    # Where generation is off, and it is unless switched on, 503 is the answer to a request that is well.
    expected_503 = endpoint.path == "/v1/scoring/generate"
    checks = [each for each in CHECKS if not expected_503 or each is not not_a_server_error]
    operation = schemathesis.openapi.from_dict(DESCRIPTION)[endpoint.path][endpoint.method]

    @given(case=operation.as_strategy())
    @settings(
        max_examples=25,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def try_one(case: Case) -> None:
        case.call_and_validate(base_url=address, checks=checks)

    try_one()


def test_every_route_is_described():
    described = {(each.method.upper(), each.path) for each in ENDPOINTS}
    served = {
        (str(method), path.replace(":str", ""))
        for handler in ROUTES
        for path in handler.paths
        for method in handler.http_methods
        if method != "OPTIONS"
        and path not in {"/", "/docs", "/openapi.json"}
        and not path.startswith(COMPAT)  # other APIs' addresses, described by those
    }
    assert described == served
