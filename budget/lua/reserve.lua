-- Holds a cost on all levels or on none, after dropping the expired holds of these levels.
-- KEYS: 1 the ledger's prefix
-- ARGV: 1 now_ms, 2 lease_ms, 3 hold id, 4 number of levels, levels, then pairs of dimension and amount in order
-- Returns: {1, dimension, left, ...} when held; {0, level, dimension, left} when short
local now, lease, id, count = clock(ARGV[1]), tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local first_amount = 5 + count
local ends = now + lease

local levels = {}
for i = 5, 4 + count do
  for _, old in ipairs(redis.call('ZRANGEBYSCORE', open_key(ARGV[i]), '-inf', now)) do
    leave(old, open_hold(old), {})
  end
  if redis.call('EXISTS', level_key(ARGV[i])) == 1 then levels[#levels + 1] = ARGV[i] end
end

local function rest(key, name)
  local v = redis.call('HMGET', key, name .. ':limit', name .. ':used', name .. ':held')
  return v[1] and tonumber(v[1]) - tonumber(v[2] or '0') - tonumber(v[3] or '0')
end

local function held()
  local least = {}
  for _, level in ipairs(levels) do
    for _, field in ipairs(redis.call('HKEYS', level_key(level))) do
      local name = string.match(field, '^(.*):limit$')
      if name then
        local left = math.max(0, rest(level_key(level), name))
        least[name] = math.min(least[name] or left, left)
      end
    end
  end
  local reply = {1}
  for name, left in pairs(least) do
    reply[#reply + 1] = name
    reply[#reply + 1] = left
  end
  return reply
end

-- The step runs again and counts on a whole lease.
local function prolong(hold)
  local until_ms = math.max(ends, tonumber(redis.call('ZSCORE', HOLDS, id)))
  redis.call('ZADD', HOLDS, until_ms, id)
  for _, level in ipairs(hold.levels) do redis.call('ZADD', open_key(level), 'XX', until_ms, id) end
end

if redis.call('GET', hold_key(id)) == '' then return held() end
local mine = open_hold(id)
if mine and tonumber(redis.call('ZSCORE', HOLDS, id)) > now then
  prolong(mine)
  return held()
elseif mine then
  leave(id, mine, {})
end

for _, level in ipairs(levels) do
  for i = first_amount, #ARGV, 2 do
    local left = rest(level_key(level), ARGV[i])
    if left and left < tonumber(ARGV[i + 1]) then return {0, level, ARGV[i], math.max(0, left)} end
  end
end

local cost = amounts(first_amount)
for _, level in ipairs(levels) do
  local key = level_key(level)
  for name, amount in pairs(cost) do redis.call('HINCRBY', key, name .. ':held', amount) end
  redis.call('ZADD', open_key(level), ends, id)
  local leaves = tonumber(redis.call('HGET', key, 'leaves'))
  if leaves > 0 then redis.call('PEXPIREAT', open_key(level), leaves) end
end
redis.call('ZADD', HOLDS, ends, id)
redis.call('SET', hold_key(id), cmsgpack.pack({levels = levels, cost = cost}))
return held()
