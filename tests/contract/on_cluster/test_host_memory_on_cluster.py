"""The tests of `tests/contract/test_host_memory.py` with the store on a cluster."""

from tests.contract.test_host_memory import *  # noqa: F403  its tests, and the fixtures they name
