-- Shared by the scripts of the step ledger: the time, and since when a step waits for a worker.
-- KEYS: 1 the shard's due set; the sets of waiting steps, one per task, are named after it and carry its hash tag
-- ARGV: see the script that follows in the same text
-- Returns: nothing by itself
local function clock(given)
  local now = tonumber(given)
  if now > 0 then return now end
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- A step id is JOB/TASK or JOB/TASK/NAME.
local function waiting(id) return KEYS[1] .. ':' .. (string.match(id, '^[^/]*/([^/]*)') or id) end

