-- Shared by the frontier's scripts: names, time, a host's memory, and how a request leaves.
-- KEYS: 1 the shard's prefix; every key made from it carries its hash tag
-- ARGV: 1 now_ms (0: the server's time); the rest: see the script that follows in the same text
-- Returns: nothing by itself
local PREFIX = KEYS[1]
local READY, LEASES, LOAD = PREFIX .. ':ready', PREFIX .. ':leases', PREFIX .. ':load'
local SUSPENDED = PREFIX .. ':suspended'
-- Keys outlive what they remember by this much, for a clock that is asked elsewhere.
local MARGIN_MS = 60000

local function key(kind, id) return PREFIX .. ':' .. kind .. ':' .. id end

local function clock()
  local given = tonumber(ARGV[1])
  if given > 0 then return given end
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end
local now = clock()

-- No host of the shard is asked before this time.
local function floor_ms() return tonumber(redis.call('GET', PREFIX .. ':floor') or '0') end

-- next: when the host may be asked; busy: whose claim holds it until then.
local function recall(host)
  local v = redis.call('HMGET', key('host', host), 'next', 'until', 'busy', 'reason')
  return {
    next = tonumber(v[1] or '0'), suspended = tonumber(v[2] or '0'), busy = v[3] or '', reason = v[4] or ''
  }
end

local function remember(host, m)
  local name = key('host', host)
  redis.call('HSET', name, 'next', m.next, 'until', m.suspended, 'busy', m.busy, 'reason', m.reason)
  redis.call('PEXPIRE', name, math.max(m.next, m.suspended, now) - now + MARGIN_MS)
end

-- A host stands in `ready` exactly while something is queued for it.
local function reschedule(host, m)
  if redis.call('EXISTS', key('queue', host)) == 1 then
    redis.call('ZADD', READY, math.max(now, m.next, m.suspended), host)
  else
    redis.call('ZREM', READY, host)
  end
end

-- With nothing queued and nothing in flight a busy period ends, and with it the count of turns.
local function tidy(host)
  if redis.call('EXISTS', key('queue', host)) == 1 then return end
  redis.call('ZREM', READY, host)
  if tonumber(redis.call('HGET', key('fair', host), 'out') or '0') <= 0 then
    redis.call('DEL', key('fair', host))
  end
end

-- A waiter is JOB|FETCH.
local function bear(waiter, by)
  local field = 'job:' .. string.match(waiter, '^[^|]*')
  if redis.call('HINCRBY', LOAD, field, by) <= 0 then redis.call('HDEL', LOAD, field) end
end

-- Forgets a request; returns its waiters in order of arrival.
local function leave(uid)
  local waiters = redis.call('ZRANGE', key('wait', uid), 0, -1)
  for _, waiter in ipairs(waiters) do bear(waiter, -1) end
  redis.call('DEL', key('req', uid), key('wait', uid))
  if redis.call('HINCRBY', LOAD, 'total', -1) <= 0 then redis.call('DEL', LOAD) end
  return waiters
end

local function holds(uid, fence)
  return redis.call('ZSCORE', LEASES, uid) and redis.call('HGET', key('req', uid), 'fence') == fence
end

local function end_lease(uid, host)
  redis.call('ZREM', LEASES, uid)
  redis.call('HINCRBY', key('fair', host), 'out', -1)
end

-- Back to the head: the virtual time has passed its finish time, and everything newer comes after that time.
local function requeue(uid, host)
  redis.call('ZADD', key('queue', host), redis.call('HGET', key('req', uid), 'finish'), uid)
end

-- After a claim the host rests. If another claim holds it by now, its rest only grows.
local function free(uid, host, pause_ms, suspend_ms, reason)
  local m = recall(host)
  if m.busy == uid then
    m.busy, m.next = '', now + pause_ms
  else
    m.next = math.max(m.next, now + pause_ms)
  end
  if suspend_ms > 0 and now + suspend_ms > m.suspended then
    m.suspended, m.reason = now + suspend_ms, reason
    -- For who counts them: the hosts themselves are found by name only.
    redis.call('ZREMRANGEBYSCORE', SUSPENDED, '-inf', now)
    redis.call('ZADD', SUSPENDED, m.suspended, host)
    redis.call('PEXPIRE', SUSPENDED, math.max(suspend_ms + MARGIN_MS, redis.call('PTTL', SUSPENDED)))
  end
  remember(host, m)
  reschedule(host, m)
  tidy(host)
end
