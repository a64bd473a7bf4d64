-- Completes finished requests, then claims the heads of the queues of hosts that are due, longest due first.
-- KEYS: 1 the shard's prefix
-- ARGV: 1 now_ms, 2 lease_ms, 3 pause_ms, 4 want, 5 whether to tell the instance (1), then per completion: uid, host, fence, reply, fresh_ms, keep_ms, stale_ms, pause_ms, suspend_ms, reason
-- Returns: {{{uid, waiter, ...}, ...}, {{uid, host, payload, attempt, fence, lease_until_ms}, ...}, next_in_ms or -1, instance of the server or ''}
local LEASE, PAUSE, WANT = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

local function store(uid, reply, fresh_ms, keep_ms, stale_ms, waiters)
  local name, given = key('reply', uid), key('given', uid)
  redis.call('DEL', name)
  redis.call('ZREMRANGEBYSCORE', given, '-inf', now)
  local life = math.max(fresh_ms + stale_ms, keep_ms)
  if life <= 0 then return end
  redis.call('HSET', name, 'body', reply, 'fresh', now + fresh_ms, 'owner', waiters[1] or '')
  redis.call('PEXPIRE', name, life)
  if keep_ms <= 0 or #waiters == 0 then return end
  for _, waiter in ipairs(waiters) do redis.call('ZADD', given, now + keep_ms, waiter) end
  redis.call('PEXPIRE', given, math.max(keep_ms, redis.call('PTTL', given)))
end

local function complete(i)
  local uid, host = ARGV[i], ARGV[i + 1]
  if not holds(uid, ARGV[i + 2]) then return nil end
  end_lease(uid, host)
  local waiters = leave(uid)
  store(uid, ARGV[i + 3], tonumber(ARGV[i + 4]), tonumber(ARGV[i + 5]), tonumber(ARGV[i + 6]), waiters)
  free(uid, host, tonumber(ARGV[i + 7]), tonumber(ARGV[i + 8]), ARGV[i + 9])
  table.insert(waiters, 1, uid)
  return waiters
end

local function pass_time(host, finish)
  local name = key('fair', host)
  if tonumber(finish) > tonumber(redis.call('HGET', name, 'vt') or '0') then
    redis.call('HSET', name, 'vt', finish)
  end
  redis.call('HINCRBY', name, 'out', 1)
end

local function claim(host)
  local popped = redis.call('ZPOPMIN', key('queue', host))
  local uid, until_ms = popped[1], now + LEASE
  local req, fence = key('req', uid), redis.call('INCR', PREFIX .. ':fence')
  redis.call('HSET', req, 'fence', fence, 'pause', PAUSE)
  redis.call('ZADD', LEASES, until_ms, uid)
  pass_time(host, popped[2])
  -- Held while in flight; a crash frees it.
  local m = recall(host)
  m.busy, m.next = uid, until_ms + PAUSE
  remember(host, m)
  reschedule(host, m)
  local v = redis.call('HMGET', req, 'payload', 'lost')
  return {uid, host, v[1], tonumber(v[2] or '0') + 1, fence, until_ms}
end

local done = {}
for i = 6, #ARGV, 10 do done[#done + 1] = complete(i) end

local claims = {}
local floor = floor_ms()
if now >= floor and WANT > 0 then
  for _, host in ipairs(redis.call('ZRANGEBYSCORE', READY, '-inf', now, 'LIMIT', 0, WANT)) do
    claims[#claims + 1] = claim(host)
  end
end

local first = redis.call('ZRANGE', READY, 0, 0, 'WITHSCORES')
local next_in = first[2] and math.max(0, tonumber(first[2]) - now, floor - now) or -1
local instance = ARGV[5] == '1' and string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') or ''
return {done, claims, next_in, instance}
