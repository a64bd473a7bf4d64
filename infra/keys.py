"""Every Redis key, with its type and life time. No other module spells a key.

A tag in braces keeps together what one script touches, so that the keys may live on a cluster.

| key | type | holds | life time |
|---|---|---|---|
| ss:{j:JOB}:job | hash | spec, state, terminal facts | job deadline + result TTL |
| ss:{j:JOB}:log | stream | log entries | as the job |
| ss:{j:JOB}:once | hash | idempotency key -> stream id | as the job |
| ss:{j:JOB}:docs | hash | document id -> compressed document | as the job |
| ss:{j:JOB}:result | string | the result | as the job |
| ss:open | zset | unfinished job by when it is looked after next | gone when no job is unfinished |
| ss:{t:TENANT}:jobs | zset | job id by creation time; of a scope: research:DIGEST | pruned on listing, 31 days |
| ss:{t:TENANT}:sets | zset | result set id by creation time | the last set's |
| ss:{t:TENANT}:set:ID | string | a result set of an adaptive search, compressed | adaptive.page_ttl_s |
| ss:{t:TENANT}:idem:KEY | string | request digest and job id | 24 h |
| ss:{s:SHARD}:due | zset | step id by the time of its next bell | lives with the steps |
| ss:{s:SHARD}:due:TASK | zset | step id by since when it waits for a worker | lives with the steps |
| ss:{s:SHARD}:step:ID | hash | state, attempt, fence, lease, rung, payload | as the job |
| ss:{f:SHARD}:ready | zset | host by when it may be asked | a host stands here while something is queued for it |
| ss:{f:SHARD}:queue:HOST | zset | uid by virtual finish time | gone when empty |
| ss:{f:SHARD}:fair:HOST | hash | virtual time, leases out, last finish time by job | gone when the host is idle |
| ss:{f:SHARD}:host:HOST | hash | next time, who holds it, suspension and reason | the rest or suspension + 60 s |
| ss:{f:SHARD}:req:UID | hash | host, payload, finish time, fence, lost leases | until delivered, given up, cancelled |
| ss:{f:SHARD}:wait:UID | zset | waiter by order of arrival | as req, gone when empty |
| ss:{f:SHARD}:suspended | zset | host by the end of its suspension | the longest suspension + 60 s |
| ss:{f:SHARD}:leases | zset | uid by the end of its lease | gone when empty |
| ss:{f:SHARD}:load | hash | pending requests in all, waiters by job | gone when nothing is pending |
| ss:{f:SHARD}:floor | string | no host is asked before this time | the hold + 60 s |
| ss:{f:SHARD}:fence | string | number of claims ever made | none; one per shard |
| ss:{f:SHARD}:reply:UID | hash | reply, owner, until when it is fresh | delivery, or freshness and what follows |
| ss:{f:SHARD}:given:UID | zset | waiter by until when the reply is kept for it | delivery |
| ss:frontier:wake | channel | a shard that has something new | - |
| ss:{b}:level:LEVEL | string | limit, used and held by dimension, packed | as opened |
| ss:{b}:open:LEVEL | set | open holds that name this level first | as the level, gone when empty |
| ss:{b}:hold:ID | string | levels and cost of an open hold; empty once it ended | open: until reaped; ended: 24 h |
| ss:{b}:holds | zset | open hold by the end of its lease | gone when empty |
| ss:{b}:slots:NAME | zset | holder by the end of its lease | the longest lease + 60 s |
| ss:{b}:weights | hash | weight by tenant, for fair shares of the slots | 31 days since the last submission |
| ss:{b}:waiting | zset | refused tenant by until when it counts as waiting | 15 s + 60 s |
| ss:robots:ORIGIN | string | the parsed robots record | at most 24 h |
| ss:trouble:HOST | string | refusals and faults in a row, and successes since | 24 h since the last |
| ss:rest:HOST | string | a page must wait: an API with its own pace was just asked here | the public interval |
| ss:worker:NAME | string | heartbeat of a worker with its role | 15 s |
| ss:health:SOURCE | string | last outcome of a source | 24 h |
| ss:metrics | hash | series -> sum over all processes | none |
| ss:sources | string | the registry as the workers see it, a JSON list of SourceView | none; replaced at start |
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


def open_jobs() -> str:
    """Return the key of the set of unfinished jobs."""
    return f"{PREFIX}open"


def tenant_jobs(tenant: str) -> str:
    """Return the key of a tenant's job index."""
    return f"{PREFIX}{{t:{tenant}}}:jobs"


def result_sets(tenant: str) -> str:
    """Return the key of a tenant's index of result sets."""
    return f"{PREFIX}{{t:{tenant}}}:sets"


def result_set(tenant: str, name: str) -> str:
    """Return the key of one result set; with an empty name what the keys of all begin with."""
    return f"{PREFIX}{{t:{tenant}}}:set:{name}"


def idempotency(tenant: str, key_digest: str) -> str:
    """Return the key that remembers an Idempotency-Key."""
    return f"{PREFIX}{{t:{tenant}}}:idem:{key_digest}"


def step_shard(step_id: str) -> int:
    """Return the shard of a step: by its job, so that a job's steps stay together."""
    return crc32(step_id.split("/", 1)[0].encode()) % STEP_SHARDS


def steps_due(shard: int) -> str:
    """Return the key of a shard's due set."""
    return f"{PREFIX}{{s:{shard}}}:due"


def steps_waiting(shard: int, task: str) -> str:
    """Return the key of a shard's steps of one task that wait for a worker."""
    return f"{steps_due(shard)}:{task}"


def step(shard: int, step_id: str) -> str:
    """Return the key of one step."""
    return f"{PREFIX}{{s:{shard}}}:step:{step_id}"


def frontier_shard(host: str) -> int:
    """Return the frontier shard of a host."""
    return crc32(host.encode()) % FRONTIER_SHARDS


def frontier_tag(shard: int) -> str:
    """Return the prefix, with its hash tag, of all keys of one frontier shard."""
    return f"{PREFIX}{{f:{shard}}}"


def frontier_ready(shard: int) -> str:
    """Return the key of a shard's hosts by when they may be asked."""
    return f"{frontier_tag(shard)}:ready"


def frontier_leases(shard: int) -> str:
    """Return the key of a shard's requests in flight."""
    return f"{frontier_tag(shard)}:leases"


def frontier_load(shard: int) -> str:
    """Return the key of a shard's count of pending requests."""
    return f"{frontier_tag(shard)}:load"


def frontier_floor(shard: int) -> str:
    """Return the key of the time before which no host of a shard is asked."""
    return f"{frontier_tag(shard)}:floor"


def frontier_suspended(shard: int) -> str:
    """Return the key of a shard's suspended hosts."""
    return f"{frontier_tag(shard)}:suspended"


def frontier_reply(host: str, uid: str) -> str:
    """Return the key of a stored reply."""
    return f"{frontier_tag(frontier_shard(host))}:reply:{uid}"


def frontier_wake() -> str:
    """Return the channel on which an idle crawl worker hears of new requests."""
    return f"{PREFIX}frontier:wake"


def budget_tag() -> str:
    """Return the prefix, with its hash tag, of all keys of the budget ledger."""
    return f"{PREFIX}{{b}}"


def budget_level(level: str) -> str:
    """Return the key of one level of the budget ledger."""
    return f"{budget_tag()}:level:{level}"


def slots(name: str) -> str:
    """Return the key of a set of slots."""
    return f"{budget_tag()}:slots:{name}"


def slot_weights() -> str:
    """Return the key of the tenants' weights."""
    return f"{budget_tag()}:weights"


def slots_waiting() -> str:
    """Return the key of the tenants that wait for a place."""
    return f"{budget_tag()}:waiting"


def robots(origin: str) -> str:
    """Return the key of an origin's robots record."""
    return f"{PREFIX}robots:{origin}"


def trouble(host: str) -> str:
    """Return the key that counts a host's failures in a row."""
    return f"{PREFIX}trouble:{host}"


def rest(host: str) -> str:
    """Return the key that lives while a host rests from a request whose pace was faster than the public interval."""
    return f"{PREFIX}rest:{host}"


def worker(name: str) -> str:
    """Return the key of a worker's heartbeat."""
    return f"{PREFIX}worker:{name}"


def source_health(source_id: str) -> str:
    """Return the key of a source's last outcome."""
    return f"{PREFIX}health:{source_id}"


def sources() -> str:
    """Return the key of the registry as the workers see it."""
    return f"{PREFIX}sources"


def boot() -> str:
    """Return the key that remembers which store instance the pace memory belongs to."""
    return f"{PREFIX}boot"


def metrics() -> str:
    """Return the key of the counters that all processes add to."""
    return f"{PREFIX}metrics"
