-- Counts the slots that are held.
-- KEYS: 1 the set of slots
-- ARGV: 1 now_ms (0: the server's time)
-- Returns: how many
drop_expired(SLOTS)
return redis.call('ZCARD', SLOTS)
