-- Ends a claim: the step leaves, rests until its next wake, or is due at once because it was rung meanwhile.
-- KEYS: due set, step hash
-- ARGV: step id, fence, rung seen, now ms (0: ask the server), wake in ms (-1: leave, 0: rest without a wake), grace ms
-- Returns 'left', 'resting', 'again' (ring the bell) or 'superseded' (the fence is old: nothing was changed).
local v = redis.call('HMGET', KEYS[2], 'fence', 'rung')
if v[1] ~= ARGV[2] then return 'superseded' end
local now = clock(ARGV[4])
local wake = tonumber(ARGV[5])
if wake < 0 then
  redis.call('DEL', KEYS[2])
  redis.call('ZREM', KEYS[1], ARGV[1])
  redis.call('ZREM', waiting(ARGV[1]), ARGV[1])
  return 'left'
end
redis.call('HSET', KEYS[2], 'attempt', 0)
redis.call('HDEL', KEYS[2], 'lease')
if tonumber(v[2]) > tonumber(ARGV[3]) then
  redis.call('HSET', KEYS[2], 'state', 'due')
  redis.call('ZADD', KEYS[1], now + tonumber(ARGV[6]), ARGV[1])
  redis.call('ZADD', waiting(ARGV[1]), now, ARGV[1])
  return 'again'
end
redis.call('HSET', KEYS[2], 'state', 'idle')
if wake > 0 then redis.call('ZADD', KEYS[1], now + wake, ARGV[1]) else redis.call('ZREM', KEYS[1], ARGV[1]) end
return 'resting'
