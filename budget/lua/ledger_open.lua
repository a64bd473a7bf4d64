-- Creates a level or replaces its limits; what was used and held stays.
-- KEYS: 1 the ledger's prefix
-- ARGV: 1 level, 2 ttl_ms (0: stays), 3 packed: dimension, limit, ...
-- Returns: 1
local name, ttl, limits, now_us = ARGV[1], tonumber(ARGV[2]), cmsgpack.unpack(ARGV[3]), server_us()
local level = read({name})[1] or {0, now_us, 0, 0, {}}
level[LEAVES] = ttl > 0 and math.floor(now_us / 1000) + ttl or 0

local figures = level[FIGURES]
for at = 1, #figures, 4 do figures[at + LIMIT] = -1 end
for k = 1, #limits, 2 do figures[place_or_make(figures, limits[k]) + LIMIT] = limits[k + 1] end
write(name, level)

-- A level and the list of its open holds leave at the same millisecond, never one without the other.
for _, each in ipairs({level_key(name), open_key(name)}) do
  if ttl > 0 then call('PEXPIREAT', each, level[LEAVES]) else call('PERSIST', each) end
end
return 1
