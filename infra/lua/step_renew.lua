-- Prolongs a claim's lease.
-- KEYS: due set, step hash
-- ARGV: step id, fence, now ms (0: ask the server), lease ms
-- Returns 1, or 0 when the fence is old.
if redis.call('HGET', KEYS[2], 'fence') ~= ARGV[2] then return 0 end
local now = clock(ARGV[3])
redis.call('HSET', KEYS[2], 'lease', now + tonumber(ARGV[4]))
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[4]), ARGV[1])
return 1
