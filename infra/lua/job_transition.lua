-- Moves a job from one state to the next, if the table that the caller sends allows it.
-- KEYS: job hash
-- ARGV: pairs of from state, to state (the rows of one event)
-- Returns {1, new state} or {0, present state ('' when the job is gone)}.
local state = redis.call('HGET', KEYS[1], 'state')
if not state then return {0, ''} end
for i = 1, #ARGV, 2 do
  if ARGV[i] == state then
    redis.call('HSET', KEYS[1], 'state', ARGV[i + 1])
    return {1, ARGV[i + 1]}
  end
end
return {0, state}
