"""The tests of `tests/contract/test_script_chain.py` with the store on a cluster."""

from tests.contract.test_script_chain import *  # noqa: F403  its tests, and the fixtures they name
