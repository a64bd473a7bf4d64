-- Gives a claim back to be tried again later; its attempt stays counted.
-- KEYS: due set, step hash
-- ARGV: step id, fence, now ms (0: ask the server), wait ms
-- Returns 1, or 0 when the fence is old.
if redis.call('HGET', KEYS[2], 'fence') ~= ARGV[2] then return 0 end
local now = clock(ARGV[3])
redis.call('HSET', KEYS[2], 'state', 'due')
redis.call('HDEL', KEYS[2], 'lease')
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[4]), ARGV[1])
redis.call('ZADD', waiting(ARGV[1]), now + tonumber(ARGV[4]), ARGV[1])
return 1
