-- Releases every open hold that includes a level, on all of its levels.
-- KEYS: 1 the ledger's prefix
-- ARGV: 1 level, 2 how long to remember the ids (ms)
-- Returns: how many there were
local ids = redis.call('ZRANGE', open_key(ARGV[1]), 0, -1)
for _, id in ipairs(ids) do
  leave(id, open_hold(id), {})
  bury(id, ARGV[2])
end
return #ids
