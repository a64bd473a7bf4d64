-- Ends a visit: the host rests.
-- KEYS: 1 the shard's prefix
-- ARGV: 1 now_ms, 2 uid of the visitor, 3 host, 4 pause_ms
-- Returns: 1
free(ARGV[2], ARGV[3], tonumber(ARGV[4]), 0, '')
return 1
