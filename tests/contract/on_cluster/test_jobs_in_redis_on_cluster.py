"""The tests of `tests/contract/test_jobs_in_redis.py` with the store on a cluster."""

from tests.contract.test_jobs_in_redis import *  # noqa: F403  its tests, and the fixtures they name
