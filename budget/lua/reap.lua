-- Returns expired claims to the heads of their queues; gives up what lost its lease too often.
-- KEYS: 1 the shard's prefix
-- ARGV: 1 now_ms, 2 wake channel, 3 max_attempts, 4 limit
-- Returns: {{uid, waiter, ...}, ...} of what was given up
local MAX_ATTEMPTS = tonumber(ARGV[3])
local given_up, woken = {}, false

-- Who crashed holds the host no longer; its rest stays as the claim left it (lease + pause).
local function settle_host(uid, host)
  local m = recall(host)
  if m.busy == uid then
    m.busy = ''
    remember(host, m)
  end
  if not redis.call('ZSCORE', READY, host) then reschedule(host, m) end
  tidy(host)
end

local function reap(uid)
  local host = redis.call('HGET', key('req', uid), 'host')
  end_lease(uid, host)
  if redis.call('EXISTS', key('wait', uid)) == 0 then
    leave(uid)
  elseif redis.call('HINCRBY', key('req', uid), 'lost', 1) >= MAX_ATTEMPTS then
    local waiters = leave(uid)
    table.insert(waiters, 1, uid)
    given_up[#given_up + 1] = waiters
  else
    requeue(uid, host)
    woken = true
  end
  settle_host(uid, host)
end

local expired = redis.call('ZRANGEBYSCORE', LEASES, '-inf', now, 'LIMIT', 0, tonumber(ARGV[4]))
for _, uid in ipairs(expired) do reap(uid) end
if woken then redis.call('PUBLISH', ARGV[2], PREFIX) end
return given_up
