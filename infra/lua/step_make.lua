-- Creates a step that is due, unless it exists.
-- KEYS: due set, step hash
-- ARGV: step id, task, next bell ms (0: ask the server), grace ms, ttl ms
-- Returns 1 when created, 0 when it was there.
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
local now = clock(ARGV[3])
redis.call('HSET', KEYS[2], 'state', 'due', 'task', ARGV[2], 'attempt', 0, 'fence', 0, 'rung', 1)
redis.call('PEXPIRE', KEYS[2], ARGV[5])
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[4]), ARGV[1])
redis.call('ZADD', waiting(ARGV[1]), now, ARGV[1])
return 1
