-- Keep what was decided before it is written, so that whoever is in charge next writes the same.
--
-- KEYS[1]  the batch; KEYS[2]  the lease
-- ARGV     token of the caller; the batch; seconds that it is kept
-- Returns  1, or 0 when another worker is in charge
if redis.call('GET', KEYS[2]) ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
return 1
