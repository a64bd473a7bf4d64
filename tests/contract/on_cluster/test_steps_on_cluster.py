"""The tests of `tests/contract/test_steps.py` with the store on a cluster."""

from tests.contract.test_steps import *  # noqa: F403  its tests, and the fixtures they name
