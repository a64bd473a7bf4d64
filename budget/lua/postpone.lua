-- Puts a claim back at the head of its host's queue, its attempt uncounted; the host rests.
-- KEYS: 1 the shard's prefix
-- ARGV: 1 now_ms, 2 uid, 3 host, 4 fence, 5 pause_ms
-- Returns: 1, or 0 if the lease was lost
local uid, host = ARGV[2], ARGV[3]
if not holds(uid, ARGV[4]) then return 0 end
end_lease(uid, host)
if redis.call('EXISTS', key('wait', uid)) == 1 then requeue(uid, host) else leave(uid) end
free(uid, host, tonumber(ARGV[5]), 0, '')
return 1
