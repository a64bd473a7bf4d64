-- Turns a hold into usage with the real amounts; an over-run is recorded in full.
-- KEYS: 1 the ledger's prefix
-- ARGV: 1 hold id, 2 how long to remember the id (ms), 3 packed: dimension, amount, ...
-- Returns: 1, or 0 if there is no such hold
local hold = open_hold(ARGV[1])
if not hold then return 0 end
leave(ARGV[1], hold, cmsgpack.unpack(ARGV[3]))
bury(ARGV[1], ARGV[2])
return 1
