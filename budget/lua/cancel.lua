-- Drops waiters; a queued request that nobody waits for leaves, one in flight completes for the cache.
-- KEYS: 1 the shard's prefix
-- ARGV: 1 now_ms, then per waiter: uid, host, waiter
-- Returns: how many queued requests were removed
local removed = 0
for i = 2, #ARGV, 3 do
  local uid, host, waiter = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if redis.call('ZREM', key('wait', uid), waiter) == 1 then
    bear(waiter, -1)
    if redis.call('EXISTS', key('wait', uid)) == 0 and not redis.call('ZSCORE', LEASES, uid) then
      redis.call('ZREM', key('queue', host), uid)
      leave(uid)
      tidy(host)
      removed = removed + 1
    end
  end
end
return removed
