-- Creates a job with its first log entry, unless it exists.
-- KEYS: job hash, log stream, once hash
-- ARGV: spec, entry key, entry, ttl ms
-- Returns 1 when created, 0 when it was there.
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'spec', ARGV[1], 'state', 'queued')
local id = redis.call('XADD', KEYS[2], '*', 'e', ARGV[3])
redis.call('HSET', KEYS[3], ARGV[2], id)
for i = 1, 3 do redis.call('PEXPIRE', KEYS[i], ARGV[4]) end
return 1
