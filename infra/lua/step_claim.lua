-- Claims a step for one worker: a lease, one more attempt, a new fence.
-- KEYS: due set, step hash
-- ARGV: step id, now ms (0: ask the server), lease ms, max attempts
-- Returns {'claimed', fence, attempt, rung, ms it waited} or {'held'|'gone'|'dead', 0, attempt, 0, 0}; 'dead' is said
-- once per asking.
local v = redis.call('HMGET', KEYS[2], 'state', 'lease', 'attempt', 'rung')
if not v[1] then
  redis.call('ZREM', KEYS[1], ARGV[1])
  redis.call('ZREM', waiting(ARGV[1]), ARGV[1])
  return {'gone', 0, 0, 0, 0}
end
local now = clock(ARGV[2])
local attempt = tonumber(v[3])
if v[1] == 'dead' then return {'dead', 0, attempt, 0, 0} end
if v[1] == 'claimed' and tonumber(v[2]) > now then return {'held', 0, attempt, 0, 0} end
if attempt >= tonumber(ARGV[4]) then
  redis.call('HSET', KEYS[2], 'state', 'dead')
  redis.call('ZREM', KEYS[1], ARGV[1])
  redis.call('ZREM', waiting(ARGV[1]), ARGV[1])
  return {'dead', 0, attempt, 0, 0}
end
local since = tonumber(redis.call('ZSCORE', waiting(ARGV[1]), ARGV[1]) or now)
redis.call('ZREM', waiting(ARGV[1]), ARGV[1])
local fence = redis.call('HINCRBY', KEYS[2], 'fence', 1)
redis.call('HSET', KEYS[2], 'state', 'claimed', 'attempt', attempt + 1, 'lease', now + tonumber(ARGV[3]))
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[3]), ARGV[1])
return {'claimed', fence, attempt + 1, tonumber(v[4]), math.max(0, now - since)}
