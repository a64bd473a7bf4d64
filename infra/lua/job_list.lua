-- Lists a job under its tenant, and takes what is too old from the list.
-- KEYS: the tenant's job index
-- ARGV: job id, when it was created (ms), how long it is listed (ms)
-- Returns 1 when it was not listed yet, else 0.
local added = redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', tonumber(ARGV[2]) - tonumber(ARGV[3]))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return added
