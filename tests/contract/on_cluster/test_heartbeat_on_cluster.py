"""The tests of `tests/contract/test_heartbeat.py` with the store on a cluster."""

from tests.contract.test_heartbeat import *  # noqa: F403  its tests, and the fixtures they name
