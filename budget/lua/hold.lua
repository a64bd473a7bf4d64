-- Shared by the ledger's scripts: names, time, levels, and how a hold leaves them. Each call into the store costs more
-- than all arithmetic, so a level is one packed value, and those of a hold are read in one call.
-- KEYS: 1 the ledger's prefix; every key made from it carries its hash tag
-- ARGV: see the script that follows in the same text
-- Returns: nothing by itself
local call, PREFIX = redis.call, KEYS[1]
local HOLDS = PREFIX .. ':holds'
-- A level: when it leaves (0: it stays), when it was born (so that a hold knows its own), how many open holds name it
-- first, whether any hold names it later (1), and its figures: dimension, limit (-1: none), used, held, and so on.
local LEAVES, BORN, FIRST, LATER, FIGURES = 1, 2, 3, 4, 5
local LIMIT, USED, HELD = 1, 2, 3

local function level_key(level) return PREFIX .. ':level:' .. level end
local function open_key(level) return PREFIX .. ':open:' .. level end
local function hold_key(id) return PREFIX .. ':hold:' .. id end

local function server_us()
  local t = call('TIME')
  return t[1] * 1000000 + t[2]
end

local function clock(given) return given > 0 and given or math.floor(server_us() / 1000) end

-- Returns the levels in the order of their names; false for one that does not exist.
local function read(names)
  if #names == 0 then return {} end
  local keys = {}
  for n, name in ipairs(names) do keys[n] = level_key(name) end
  local levels = call('MGET', unpack(keys))
  for n, raw in ipairs(levels) do levels[n] = raw and cmsgpack.unpack(raw) end
  return levels
end

local function write(name, level) call('SET', level_key(name), cmsgpack.pack(level), 'KEEPTTL') end

local function place(figures, name)
  for at = 1, #figures, 4 do
    if figures[at] == name then return at end
  end
end

local function place_or_make(figures, name)
  local at = place(figures, name)
  if not at then
    at = #figures + 1
    figures[at], figures[at + LIMIT], figures[at + USED], figures[at + HELD] = name, -1, 0, 0
  end
  return at
end

-- Adds pairs of dimension and amount to what a level has used or held, `sign` times.
local function add(level, part, amounts, sign)
  local figures = level[FIGURES]
  for k = 1, #amounts, 2 do
    local at = place_or_make(figures, amounts[k]) + part
    figures[at] = figures[at] + sign * amounts[k + 1]
  end
end

-- An open hold is {names, their births, cost as pairs}; '' or nothing is none.
local function open_hold(id)
  local raw = call('GET', hold_key(id))
  return raw and raw ~= '' and cmsgpack.unpack(raw) or nil
end

-- A level that left meanwhile, and perhaps came back, is another one: nothing is owed there.
local function leave(id, hold, used)
  local names, born, cost = hold[1], hold[2], hold[3]
  for n, level in ipairs(read(names)) do
    if level and level[BORN] == born[n] then
      add(level, HELD, cost, -1)
      add(level, USED, used, 1)
      if n == 1 then
        level[FIRST] = level[FIRST] - 1
        call('SREM', open_key(names[1]), id)
      end
      write(names[n], level)
    end
  end
  call('ZREM', HOLDS, id)
end

-- The mark of an ended hold, so that a step that runs again is not charged again.
local function bury(id, ttl_ms) call('SET', hold_key(id), '', 'PX', ttl_ms) end

-- Drops up to `limit` expired holds, oldest first; their ids may be reserved again. Returns how many.
local function drop_expired(now, limit)
  local ids = call('ZRANGEBYSCORE', HOLDS, '-inf', now, 'LIMIT', 0, limit)
  for _, id in ipairs(ids) do
    leave(id, open_hold(id), {})
    call('DEL', hold_key(id))
  end
  return #ids
end
