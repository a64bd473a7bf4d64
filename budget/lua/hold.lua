-- Shared by the ledger's scripts: names, time, and how a hold leaves its levels.
-- KEYS: 1 the ledger's prefix; every key made from it carries its hash tag
-- ARGV: see the script that follows in the same text
-- Returns: nothing by itself
local PREFIX = KEYS[1]
local HOLDS = PREFIX .. ':holds'

local function level_key(level) return PREFIX .. ':level:' .. level end
local function open_key(level) return PREFIX .. ':open:' .. level end
local function hold_key(id) return PREFIX .. ':hold:' .. id end

local function server_ms()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

local function clock(given)
  local now = tonumber(given)
  return now > 0 and now or server_ms()
end

local function amounts(first)
  local found = {}
  for i = first, #ARGV, 2 do found[ARGV[i]] = tonumber(ARGV[i + 1]) end
  return found
end

local function open_hold(id)
  local raw = redis.call('GET', hold_key(id))
  return raw and raw ~= '' and cmsgpack.unpack(raw) or nil
end

-- A level that left meanwhile (and perhaps came back) does not list the hold: nothing is owed there.
-- 0 - amount, for the negative of zero is "-0", which HINCRBY refuses.
local function leave(id, hold, used)
  for _, level in ipairs(hold.levels) do
    if redis.call('ZREM', open_key(level), id) == 1 then
      local key = level_key(level)
      for name, amount in pairs(hold.cost) do
        redis.call('HINCRBY', key, name .. ':held', 0 - amount)
      end
      for name, amount in pairs(used) do
        redis.call('HINCRBY', key, name .. ':used', amount)
      end
    end
  end
  redis.call('ZREM', HOLDS, id)
  redis.call('DEL', hold_key(id))
end

-- The mark of an ended hold, so that a step that runs again is not charged again.
local function bury(id, ttl_ms) redis.call('SET', hold_key(id), '', 'PX', ttl_ms) end
