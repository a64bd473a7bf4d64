-- Keeps a result set until a time, and lets go of a tenant's oldest ones beyond a number.
-- KEYS: the tenant's index of sets, the set
-- ARGV: set id, when it was created (ms), until when it is kept (ms), how many are kept, prefix of the sets' keys, the set
-- Returns how many sets the tenant has now.
local tag = ARGV[5]
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', tonumber(ARGV[2]) - 1800000)
redis.call('SET', KEYS[2], ARGV[6])
redis.call('PEXPIREAT', KEYS[2], ARGV[3])
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
for _, old in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1 - tonumber(ARGV[4]))) do
  redis.call('DEL', tag .. old)
  redis.call('ZREM', KEYS[1], old)
end
redis.call('PEXPIREAT', KEYS[1], ARGV[3])
return redis.call('ZCARD', KEYS[1])
