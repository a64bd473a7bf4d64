-- Has an unfinished job looked after, until it is forgotten.
-- KEYS: set of unfinished jobs
-- ARGV: job id, when to look at it first (ms)
-- Returns 1 when it was not in the set yet, else 0.
return redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
