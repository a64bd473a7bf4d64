-- Gives a hold back unused.
-- KEYS: 1 the ledger's prefix
-- ARGV: 1 hold id, 2 how long to remember the id (ms)
-- Returns: 1, or 0 if there is no such hold
local hold = open_hold(ARGV[1])
if not hold then return 0 end
leave(ARGV[1], hold, {})
bury(ARGV[1], ARGV[2])
return 1
