-- Shared by the scripts of slots: time, and leases that end by themselves.
-- KEYS: 1 the set of slots
-- ARGV: 1 now_ms (0: the server's time); the rest: see the script that follows in the same text
-- Returns: nothing by itself
local SLOTS = KEYS[1]
-- The key outlives its longest lease by this much, for a clock that is asked elsewhere.
local MARGIN_MS = 60000

local function clock()
  local given = tonumber(ARGV[1])
  if given > 0 then return given end
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end
local now = clock()

local function drop_expired(slots) redis.call('ZREMRANGEBYSCORE', slots, '-inf', now) end

local function hold(slots, holder, ttl_ms)
  redis.call('ZADD', slots, now + ttl_ms, holder)
  local last = redis.call('ZRANGE', slots, -1, -1, 'WITHSCORES')
  redis.call('PEXPIRE', slots, math.max(0, tonumber(last[2]) - now) + MARGIN_MS)
end
