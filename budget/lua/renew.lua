-- Prolongs a claim, and with it the hold on its host; never shortens it.
-- KEYS: 1 the shard's prefix
-- ARGV: 1 now_ms, 2 uid, 3 host, 4 fence, 5 lease_ms
-- Returns: 1, or 0 if the lease was lost or has ended
local uid, host = ARGV[2], ARGV[3]
if not holds(uid, ARGV[4]) then return 0 end
local ends = tonumber(redis.call('ZSCORE', LEASES, uid))
if ends <= now then return 0 end
ends = math.max(ends, now + tonumber(ARGV[5]))
redis.call('ZADD', LEASES, ends, uid)
local m = recall(host)
m.busy, m.next = uid, ends + tonumber(redis.call('HGET', key('req', uid), 'pause'))
remember(host, m)
reschedule(host, m)
return 1
