-- Creates a step that is due, or rests until it is rung or its wake comes, unless it exists.
-- KEYS: due set, step hash
-- ARGV: step id, task, now ms (0: ask the server), grace ms, ttl ms, wake ms (0: it is due now)
-- Returns 1 when created, 0 when it was there.
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
local now = clock(ARGV[3])
local wake = tonumber(ARGV[6])
local state = wake > 0 and 'idle' or 'due'
redis.call('HSET', KEYS[2], 'state', state, 'task', ARGV[2], 'attempt', 0, 'fence', 0, 'rung', 1)
redis.call('PEXPIRE', KEYS[2], ARGV[5])
redis.call('ZADD', KEYS[1], now + (wake > 0 and wake or tonumber(ARGV[4])), ARGV[1])
if wake <= 0 then redis.call('ZADD', waiting(ARGV[1]), now, ARGV[1]) end
return 1
