-- Releases expired holds, oldest first; their ids may be reserved again.
-- KEYS: 1 the ledger's prefix
-- ARGV: 1 now_ms, 2 limit
-- Returns: how many were released
local ids = redis.call('ZRANGEBYSCORE', HOLDS, '-inf', clock(ARGV[1]), 'LIMIT', 0, tonumber(ARGV[2]))
for _, id in ipairs(ids) do leave(id, open_hold(id), {}) end
return #ids
