-- Prolongs a slot that is still held.
-- KEYS: 1 the set of slots
-- ARGV: 1 now_ms (0: the server's time), 2 holder, 3 ttl_ms
-- Returns: 1, or 0 if its holder has it no longer
drop_expired(SLOTS)
if not redis.call('ZSCORE', SLOTS, ARGV[2]) then return 0 end
hold(SLOTS, ARGV[2], tonumber(ARGV[3]))
return 1
