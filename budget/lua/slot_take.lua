-- Takes one of a limited number of slots, or prolongs the one its holder has already.
-- KEYS: 1 the set of slots
-- ARGV: 1 now_ms (0: the server's time), 2 holder, 3 ttl_ms, 4 limit
-- Returns: 1 when held, 0 when all are taken
drop_expired(SLOTS)
if not redis.call('ZSCORE', SLOTS, ARGV[2]) and redis.call('ZCARD', SLOTS) >= tonumber(ARGV[4]) then
  return 0
end
hold(SLOTS, ARGV[2], tonumber(ARGV[3]))
return 1
