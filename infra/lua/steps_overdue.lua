-- Finds steps whose bell is overdue, and moves each one's next bell on so that only one worker rings it. One that rested,
-- or whose worker died, waits for a worker since its bell was due; one that waits already keeps its time.
-- KEYS: due set
-- ARGV: now ms (0: ask the server), limit, again ms
-- Returns step ids; whoever gets them rings their bells.
local now = clock(ARGV[1])
local found = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'WITHSCORES', 'LIMIT', 0, ARGV[2])
local ids = {}
for i = 1, #found, 2 do
  ids[#ids + 1] = found[i]
  redis.call('ZADD', waiting(found[i]), 'NX', found[i + 1], found[i])
  redis.call('ZADD', KEYS[1], now + tonumber(ARGV[3]), found[i])
end
return ids
