"""Every Redis key, with its type and life time. No other module spells a key.

A tag in braces keeps together what one script touches, so that the keys may live on a cluster.

| key | type | holds | life time |
|---|---|---|---|
| ss:{j:JOB}:job | hash | spec, state, terminal facts | job deadline + result TTL |
| ss:{j:JOB}:log | stream | log entries | as the job |
| ss:{j:JOB}:once | hash | idempotency key -> stream id | as the job |
| ss:{j:JOB}:docs | hash | document id -> compressed document | as the job |
| ss:{j:JOB}:result | string | the result | as the job |
| ss:{t:TENANT}:jobs | zset | job id by creation time | pruned on listing, 31 days |
| ss:{t:TENANT}:idem:KEY | string | request digest and job id | 24 h |
| ss:{s:SHARD}:due | zset | step id by the time of its next bell | lives with the steps |
| ss:{s:SHARD}:step:ID | hash | state, attempt, fence, lease, rung, payload | as the job |
| ss:{f:SHARD}:... | several | the frontier, see budget/redis_frontier.py | see there |
| ss:{b}:... | several | the budget ledger, see budget/redis_ledger.py | see there |
| ss:robots:ORIGIN | string | the parsed robots record | at most 24 h |
| ss:worker:NAME | string | heartbeat of a worker with its role | 15 s |
| ss:health:SOURCE | string | last outcome of a source | 24 h |
| ss:boot | string | run id of the store that pace memory belongs to | none |
"""

from zlib import crc32

PREFIX = "ss:"
STEP_SHARDS = 4
FRONTIER_SHARDS = 4


def job(job_id: str) -> str:
    """Return the key of a job's hash."""
    return f"{PREFIX}{{j:{job_id}}}:job"


def job_log(job_id: str) -> str:
    """Return the key of a job's log stream."""
    return f"{PREFIX}{{j:{job_id}}}:log"


def job_once(job_id: str) -> str:
    """Return the key of a job's idempotency hash."""
    return f"{PREFIX}{{j:{job_id}}}:once"


def job_documents(job_id: str) -> str:
    """Return the key of a job's documents."""
    return f"{PREFIX}{{j:{job_id}}}:docs"


def job_result(job_id: str) -> str:
    """Return the key of a job's result."""
    return f"{PREFIX}{{j:{job_id}}}:result"


def tenant_jobs(tenant: str) -> str:
    """Return the key of a tenant's job index."""
    return f"{PREFIX}{{t:{tenant}}}:jobs"


def idempotency(tenant: str, key_digest: str) -> str:
    """Return the key that remembers an Idempotency-Key."""
    return f"{PREFIX}{{t:{tenant}}}:idem:{key_digest}"


def step_shard(step_id: str) -> int:
    """Return the shard of a step: by its job, so that a job's steps stay together."""
    return crc32(step_id.split("/", 1)[0].encode()) % STEP_SHARDS


def steps_due(shard: int) -> str:
    """Return the key of a shard's due set."""
    return f"{PREFIX}{{s:{shard}}}:due"


def step(shard: int, step_id: str) -> str:
    """Return the key of one step."""
    return f"{PREFIX}{{s:{shard}}}:step:{step_id}"


def frontier_shard(host: str) -> int:
    """Return the frontier shard of a host."""
    return crc32(host.encode()) % FRONTIER_SHARDS


def frontier_tag(shard: int) -> str:
    """Return the prefix, with its hash tag, of all keys of one frontier shard."""
    return f"{PREFIX}{{f:{shard}}}"


def budget_tag() -> str:
    """Return the prefix, with its hash tag, of all keys of the budget ledger."""
    return f"{PREFIX}{{b}}"


def robots(origin: str) -> str:
    """Return the key of an origin's robots record."""
    return f"{PREFIX}robots:{origin}"


def worker(name: str) -> str:
    """Return the key of a worker's heartbeat."""
    return f"{PREFIX}worker:{name}"


def source_health(source_id: str) -> str:
    """Return the key of a source's last outcome."""
    return f"{PREFIX}health:{source_id}"


def boot() -> str:
    """Return the key that remembers which store instance the pace memory belongs to."""
    return f"{PREFIX}boot"
