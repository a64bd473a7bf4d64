-- Takes a place for a job, in the deployment and under its tenant, or in neither; who has one prolongs it.
-- KEYS: 1 the deployment's places; those of a tenant are KEYS[1]:TENANT, 2 weight by tenant, 3 waiting tenants
-- ARGV: 1 now_ms (0: the server's time), 2 job, 3 ttl_ms, 4 tenant, 5 its weight, 6 its limit, 7 the deployment's limit,
--   8 places kept for tenants that have none, 9 how long a refused tenant counts as waiting (ms)
-- Returns: admitted, or what is short: tenant, deployment, kept, share
local WEIGHTS, WAITING = KEYS[2], KEYS[3]
-- Longer than any job may take: a weight that was forgotten would leave its tenant out of the shares.
local REMEMBER_MS = 31 * 86400000
local job, ttl, tenant, limit = ARGV[2], tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[7])
local own = SLOTS .. ':' .. tenant

local function held_by(name) return redis.call('ZCOUNT', SLOTS .. ':' .. name, '(' .. now, '+inf') end

-- Weights of the tenants that hold or await a place, and their sum; who does neither is forgotten.
local function weights()
  local found, sum = {}, 0
  local rows = redis.call('HGETALL', WEIGHTS)
  for i = 1, #rows, 2 do
    local name = rows[i]
    if name == tenant or held_by(name) > 0 or redis.call('ZSCORE', WAITING, name) then
      found[name] = tonumber(rows[i + 1])
      sum = sum + found[name]
    else
      redis.call('HDEL', WEIGHTS, name)
    end
  end
  return found, sum
end

-- Whether this tenant has its share while another, which has less than its own, waits.
local function is_greedy(mine)
  if redis.call('ZCARD', WAITING) == 0 then return false end
  local weight, sum = weights()
  if mine < limit * weight[tenant] / sum then return false end
  for name, its in pairs(weight) do
    local waits = name ~= tenant and redis.call('ZSCORE', WAITING, name)
    if waits and held_by(name) < limit * its / sum then return true end
  end
  return false
end

local function short()
  if redis.call('ZSCORE', SLOTS, job) and redis.call('ZSCORE', own, job) then return nil end
  local mine, free = redis.call('ZCARD', own), limit - redis.call('ZCARD', SLOTS)
  if mine >= tonumber(ARGV[6]) then return 'tenant' end
  if free <= 0 then return 'deployment' end
  if mine > 0 and free <= tonumber(ARGV[8]) then return 'kept' end
  return is_greedy(mine) and 'share' or nil
end

drop_expired(SLOTS)
drop_expired(own)
redis.call('ZREMRANGEBYSCORE', WAITING, '-inf', now)
redis.call('HSET', WEIGHTS, tenant, ARGV[5])
redis.call('PEXPIRE', WEIGHTS, REMEMBER_MS)
local why = short()
if why and why ~= 'tenant' then
  redis.call('ZADD', WAITING, now + tonumber(ARGV[9]), tenant)
  redis.call('PEXPIRE', WAITING, tonumber(ARGV[9]) + MARGIN_MS)
elseif redis.call('ZCARD', WAITING) > 0 then
  redis.call('ZREM', WAITING, tenant)
end
if why then return why end
hold(SLOTS, job, ttl)
hold(own, job, ttl)
return 'admitted'
