-- Finds steps whose bell is overdue, and moves each one's next bell on so that only one worker rings it.
-- KEYS: due set
-- ARGV: now ms (0: ask the server), limit, again ms
-- Returns step ids; whoever gets them rings their bells.
local now = tonumber(ARGV[1])
if now == 0 then local t = redis.call('TIME'); now = t[1] * 1000 + math.floor(t[2] / 1000) end
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[2])
for _, id in ipairs(ids) do redis.call('ZADD', KEYS[1], now + tonumber(ARGV[3]), id) end
return ids
