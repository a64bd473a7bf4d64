-- Releases expired holds, oldest first; their ids may be reserved again.
-- KEYS: 1 the ledger's prefix
-- ARGV: 1 now_ms, 2 limit
-- Returns: how many were released
return drop_expired(clock(tonumber(ARGV[1])), ARGV[2])
