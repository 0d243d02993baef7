-- Which generation of the near-duplicate index of a cluster is written to; a new one begins when this one is old or full.
--
-- KEYS[1]  hash: generation, since (when it began), entered (documents entered in it), hashes (of buckets, in each part)
-- ARGV     documents that the caller has entered since it asked last; the time, or nothing for the server's own, and
--          the time to live, in seconds; most documents in two generations; hashes for a new index
-- Returns  generation, hashes
local call = redis.call
local about, entered, ttl, cap = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[3]), tonumber(ARGV[4])
local now = tonumber(ARGV[2]) or tonumber(call('TIME')[1])
local stored = redis.pcall('HMGET', about, 'generation', 'since', 'entered', 'hashes')
if stored.err then -- of another type, and so not ours
  call('DEL', about)
  stored = {}
end
local generation, since, hashes = tonumber(stored[1]), tonumber(stored[2]), tonumber(stored[4])
if not generation or not since or not hashes or hashes < 1 then
  generation, since, hashes = 1, now, tonumber(ARGV[5])
end
entered = entered + (tonumber(stored[3]) or 0)
if now - since >= ttl or 2 * entered > cap then
  -- After two times to live without a word the generation before is no longer to be read either.
  generation = generation + (now - since >= 2 * ttl and 2 or 1)
  since, entered = now, 0
end
call('HSET', about, 'generation', generation, 'since', since, 'entered', entered, 'hashes', hashes)
call('EXPIRE', about, 3 * ttl)
return {generation, hashes}
