-- Tells what is known of a host.
-- KEYS: 1 the shard's prefix
-- ARGV: 1 now_ms, 2 host
-- Returns: {queued, next_in_ms, suspended until or -1, reason}
local m = recall(ARGV[2])
local suspended = m.suspended > now
local next_in = math.max(0, math.max(m.next, m.suspended, floor_ms()) - now)
return {
  redis.call('ZCARD', key('queue', ARGV[2])), next_in,
  suspended and m.suspended or -1, suspended and m.reason or ''
}
