-- Says that a step has news; an idle step becomes due, a claimed one will look again when it is done.
-- KEYS: due set, step hash
-- ARGV: step id, now ms (0: ask the server), grace ms
-- Returns {1, task} when a bell should be sent, {0, ''} when not (claimed, already due, dead or gone).
local state = redis.call('HGET', KEYS[2], 'state')
if not state or state == 'dead' then return {0, ''} end
redis.call('HINCRBY', KEYS[2], 'rung', 1)
if state ~= 'idle' then return {0, ''} end
local now = clock(ARGV[2])
redis.call('HSET', KEYS[2], 'state', 'due')
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[3]), ARGV[1])
redis.call('ZADD', waiting(ARGV[1]), now, ARGV[1])
return {1, redis.call('HGET', KEYS[2], 'task')}
