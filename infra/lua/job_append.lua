-- Appends entries to a job's log, each key once; nothing follows the terminal entry.
-- KEYS: job hash, log stream, once hash
-- ARGV: pairs of entry key, entry
-- Returns one stream id per entry ('' when refused: the job is gone or has ended).
local out = {}
local open = redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], 'finished_at_ms') == 0
for i = 1, #ARGV, 2 do
  local id = redis.call('HGET', KEYS[3], ARGV[i])
  if id then
    out[#out + 1] = id
  elseif open then
    id = redis.call('XADD', KEYS[2], '*', 'e', ARGV[i + 1])
    redis.call('HSET', KEYS[3], ARGV[i], id)
    out[#out + 1] = id
  else
    out[#out + 1] = ''
  end
end
return out
