-- Creates a level or replaces its limits; what was used and held stays.
-- KEYS: 1 the ledger's prefix
-- ARGV: 1 level, 2 ttl_ms (0: stays), then pairs of dimension and limit
-- Returns: 1
local key, ttl = level_key(ARGV[1]), tonumber(ARGV[2])
local leaves = ttl > 0 and server_ms() + ttl or 0

for _, field in ipairs(redis.call('HKEYS', key)) do
  if string.sub(field, -6) == ':limit' then redis.call('HDEL', key, field) end
end
for name, limit in pairs(amounts(3)) do redis.call('HSET', key, name .. ':limit', limit) end
redis.call('HSET', key, 'leaves', leaves)

-- A level and the list of its open holds leave at the same millisecond, never one without the other.
for _, each in ipairs({key, open_key(ARGV[1])}) do
  if leaves > 0 then redis.call('PEXPIREAT', each, leaves) else redis.call('PERSIST', each) end
end
return 1
