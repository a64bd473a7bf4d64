-- Releases every open hold that includes a level, on all of its levels.
-- KEYS: 1 the ledger's prefix
-- ARGV: 1 level, 2 how long to remember the ids (ms)
-- Returns: how many there were
local level = read({ARGV[1]})[1]
if not level then return 0 end

-- The holds that name the level first (a job's do) are listed; the others are looked for, if there were any.
local found = {}
for _, id in ipairs(call('SMEMBERS', open_key(ARGV[1]))) do found[#found + 1] = {id, open_hold(id)} end
if level[LATER] == 1 then
  for _, id in ipairs(call('ZRANGE', HOLDS, 0, -1)) do
    local hold = open_hold(id)
    for n = 2, #hold[1] do
      if hold[1][n] == ARGV[1] and hold[2][n] == level[BORN] then found[#found + 1] = {id, hold} end
    end
  end
end
for _, each in ipairs(found) do
  leave(each[1], each[2], {})
  bury(each[1], ARGV[2])
end
return #found
