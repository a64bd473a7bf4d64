-- Queues requests, joins them to identical ones or answers from the stored replies.
-- KEYS: 1 the shard's prefix
-- ARGV: 1 now_ms, 2 wake channel, 3-5 caps (host, job, total), then per offer: uid, host, payload, job, waiter, deadline_ms, pause_ms, 1/weight
-- Returns: per offer {disposition, ready_in_ms, until_ms or -1}; a cached one's with {..., the reply, 1 if it was fetched for this waiter}
local CAP_HOST, CAP_JOB, CAP_TOTAL = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local woken = false

local function is_cached(o)
  local fresh = redis.call('HGET', key('reply', o.uid), 'fresh')
  if not fresh then return false end
  return now < tonumber(fresh) or now < tonumber(redis.call('ZSCORE', key('given', o.uid), o.waiter) or '0')
end

-- A lower bound: what is in flight may complete at once.
local function wait_ms(m, pause_ms)
  local rest = m.next - now
  if m.busy ~= '' then rest = math.min(rest, pause_ms) end
  return math.max(0, rest, m.suspended - now, floor_ms() - now)
end

local function finish_time(o)
  local v = redis.call('HMGET', key('fair', o.host), 'vt', 'job:' .. o.job)
  return math.max(tonumber(v[1] or '0'), tonumber(v[2] or '0')) + o.stride
end

local function is_full(o)
  local v = redis.call('HMGET', LOAD, 'total', 'job:' .. string.match(o.waiter, '^[^|]*'))
  return redis.call('ZCARD', key('queue', o.host)) >= CAP_HOST
    or tonumber(v[1] or '0') >= CAP_TOTAL or tonumber(v[2] or '0') >= CAP_JOB
end

local function refusal(o, m, known, ready_in)
  if m.suspended > now and m.suspended > o.deadline then return 'suspended' end
  if not known and is_full(o) then return 'full' end
  if now + ready_in > o.deadline then return 'late' end
end

local function name_of(o)
  return redis.call('ZRANK', key('wait', o.uid), o.waiter) == 0 and 'queued' or 'joined'
end

local function add_waiter(o)
  local name = key('wait', o.uid)
  if redis.call('ZSCORE', name, o.waiter) then return end
  redis.call('ZADD', name, redis.call('HINCRBY', key('req', o.uid), 'arrivals', 1), o.waiter)
  bear(o.waiter, 1)
end

local function take_place(o, finish)
  redis.call('HSET', key('fair', o.host), 'job:' .. o.job, finish)
  redis.call('HSET', key('req', o.uid), 'finish', finish)
  redis.call('ZADD', key('queue', o.host), finish, o.uid)
end

local function create(o, m)
  redis.call('HSET', key('req', o.uid), 'host', o.host, 'payload', o.payload)
  redis.call('HINCRBY', LOAD, 'total', 1)
  if not redis.call('ZSCORE', READY, o.host) then reschedule(o.host, m) end
  woken = true
end

local function place(o)
  if is_cached(o) then
    local v = redis.call('HMGET', key('reply', o.uid), 'body', 'owner')
    return {'cached', 0, -1, v[1], v[2] == o.waiter and 1 or 0}
  end
  if redis.call('ZSCORE', LEASES, o.uid) then
    add_waiter(o)
    return {name_of(o), 0, -1}
  end
  local m = recall(o.host)
  local known = tonumber(redis.call('ZSCORE', key('queue', o.host), o.uid) or nil)
  local waits = known and redis.call('ZSCORE', key('wait', o.uid), o.waiter)
  local mine = finish_time(o)
  -- Who joins a request that stands behind a giant job's others brings it forward to their own turn.
  local finish = known and (waits and known or math.min(known, mine)) or mine
  local ahead = redis.call('ZCOUNT', key('queue', o.host), '-inf', string.format('(%.17g', finish))
  local ready_in = wait_ms(m, o.pause) + ahead * o.pause
  local until_ms = m.suspended > now and m.suspended or -1
  if not waits then
    local refused = refusal(o, m, known, ready_in)
    if refused then return {refused, ready_in, until_ms} end
    if finish ~= known then take_place(o, finish) end
    if not known then create(o, m) end
    add_waiter(o)
  end
  return {name_of(o), ready_in, until_ms}
end

local placed = {}
for i = 6, #ARGV, 8 do
  placed[#placed + 1] = place({
    uid = ARGV[i], host = ARGV[i + 1], payload = ARGV[i + 2], job = ARGV[i + 3], waiter = ARGV[i + 4],
    deadline = tonumber(ARGV[i + 5]), pause = tonumber(ARGV[i + 6]), stride = tonumber(ARGV[i + 7])
  })
end
if woken then redis.call('PUBLISH', ARGV[2], PREFIX) end
return placed
