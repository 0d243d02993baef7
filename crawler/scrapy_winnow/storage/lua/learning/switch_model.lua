-- Go back to an earlier model and hold it, or let learners publish again.
--
-- KEYS[1]  hash: serial, version, held
-- KEYS[2]  hash: version -> model
-- ARGV     'hold' or 'resume'; for 'hold' the version to use, '' for the crawls' own model
-- Returns  1, or 0 if there is no such version
local current, models = KEYS[1], KEYS[2]
local what, version = ARGV[1], ARGV[2]

if what == 'resume' then
  redis.call('HDEL', current, 'held')
  return 1
end
if version ~= '' and redis.call('HEXISTS', models, version) == 0 then
  return 0
end
redis.call('HINCRBY', current, 'serial', 1)
redis.call('HSET', current, 'version', version, 'held', 1)
return 1
