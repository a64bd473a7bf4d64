-- Finds unfinished jobs that are to be looked after, and moves each one's next time on so that only one worker does it.
-- KEYS: set of unfinished jobs
-- ARGV: now ms, limit, again ms
-- Returns job ids.
local now = tonumber(ARGV[1])
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[2])
for _, id in ipairs(ids) do redis.call('ZADD', KEYS[1], now + tonumber(ARGV[3]), id) end
return ids
