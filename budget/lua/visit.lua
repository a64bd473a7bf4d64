-- Takes a host that is free for one request which stands in no queue; an end that is never told frees it by itself.
-- KEYS: 1 the shard's prefix
-- ARGV: 1 now_ms, 2 uid of the visitor, 3 host, 4 hold_ms
-- Returns: 0, or in how many milliseconds to ask again
local uid, host = ARGV[2], ARGV[3]
local m = recall(host)
local wait = math.max(m.next, m.suspended, floor_ms()) - now
if wait > 0 then return wait end
m.busy, m.next = uid, now + tonumber(ARGV[4])
remember(host, m)
reschedule(host, m)
return 0
