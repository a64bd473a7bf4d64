-- Holds a cost on all levels or on none, after dropping what has expired.
-- KEYS: 1 the ledger's prefix
-- ARGV: 1 packed: now_ms, lease_ms, hold id, how many expired holds to drop at most, levels, dimension and amount ...
-- Returns: packed: {1, dimension, left, ...} when held; {0, level, dimension, left} when short
local now, lease, id, most, asked, cost = unpack(cmsgpack.unpack(ARGV[1]))
now = clock(now)
local ends = now + lease
drop_expired(now, most)

local is_known, raw = false, call('GET', hold_key(id))
if raw == '' then
  is_known = true
elseif raw then
  local mine, lasts = cmsgpack.unpack(raw), tonumber(call('ZSCORE', HOLDS, id))
  is_known = lasts > now
  if is_known then -- the step runs again and counts on a whole lease
    call('ZADD', HOLDS, math.max(ends, lasts), id)
  else
    leave(id, mine, {})
  end
end

local names, levels = {}, {}
for n, level in ipairs(read(asked)) do
  if level then names[#names + 1], levels[#levels + 1] = asked[n], level end
end

if not is_known then
  for n, level in ipairs(levels) do
    local figures = level[FIGURES]
    for k = 1, #cost, 2 do
      local at = place(figures, cost[k])
      if at and figures[at + LIMIT] >= 0 then
        local left = figures[at + LIMIT] - figures[at + USED] - figures[at + HELD]
        if left < cost[k + 1] then return cmsgpack.pack({0, names[n], cost[k], math.max(0, left)}) end
      end
    end
  end
  local born = {}
  for n, level in ipairs(levels) do
    born[n] = level[BORN]
    add(level, HELD, cost, 1)
    if n == 1 then
      call('SADD', open_key(names[1]), id)
      -- A list that begins with this hold leaves with its level.
      if level[FIRST] == 0 and level[LEAVES] > 0 then call('PEXPIREAT', open_key(names[1]), level[LEAVES]) end
      level[FIRST] = level[FIRST] + 1
    else
      level[LATER] = 1
    end
    write(names[n], level)
  end
  call('ZADD', HOLDS, ends, id)
  call('SET', hold_key(id), cmsgpack.pack({names, born, cost}))
end

-- The least that is left of each dimension over all levels that limit it.
local least, reply = {}, {1}
for _, level in ipairs(levels) do
  local f = level[FIGURES]
  for at = 1, #f, 4 do
    if f[at + LIMIT] >= 0 then
      local name, left = f[at], f[at + LIMIT] - f[at + USED] - f[at + HELD]
      if not least[name] or left < least[name] then least[name] = left end
    end
  end
end
for name, left in pairs(least) do reply[#reply + 1], reply[#reply + 2] = name, math.max(0, left) end
return cmsgpack.pack(reply)
