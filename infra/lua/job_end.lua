-- Ends a job: state, result and the one terminal entry, all or nothing; then everything lives for the result's time.
-- KEYS: job hash, log stream, once hash, result, documents
-- ARGV: ended key, ended entry, result ('' for none), finished ms, ttl ms, error code, error message, pairs of from, to
-- Returns {1, new state} or {0, present state ('' when the job is gone)}.
local state = redis.call('HGET', KEYS[1], 'state')
if not state then return {0, ''} end
for i = 8, #ARGV, 2 do
  if ARGV[i] == state then
    local id = redis.call('XADD', KEYS[2], '*', 'e', ARGV[2])
    redis.call('HSET', KEYS[3], ARGV[1], id)
    redis.call('HSET', KEYS[1], 'state', ARGV[i + 1], 'finished_at_ms', ARGV[4],
      'expires_at_ms', string.format('%.0f', tonumber(ARGV[4]) + tonumber(ARGV[5])),
      'error_code', ARGV[6], 'error_message', ARGV[7])
    if ARGV[3] ~= '' then redis.call('SET', KEYS[4], ARGV[3]) end
    for k = 1, 5 do redis.call('PEXPIRE', KEYS[k], ARGV[5]) end
    return {1, ARGV[i + 1]}
  end
end
return {0, state}
