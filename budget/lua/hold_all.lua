-- Lets every host of the shard rest; an earlier, longer hold stays.
-- KEYS: 1 the shard's prefix
-- ARGV: 1 now_ms, 2 pause_ms
-- Returns: the time before which no host is asked
local floor = math.max(floor_ms(), now + tonumber(ARGV[2]))
redis.call('SET', PREFIX .. ':floor', floor, 'PX', floor - now + MARGIN_MS)
return floor
