-- Make a model the one in use, if the learner is still in charge and nobody has changed the model meanwhile.
--
-- KEYS[1]  string: token of the learner in charge
-- KEYS[2]  hash: serial, version, held (1 after a rollback)
-- KEYS[3]  hash: version -> model
-- KEYS[4]  hash: version -> card
-- KEYS[5]  sorted set: version -> serial
-- ARGV     the learner's token; version; model; card; version that the model was compared with; versions to keep
-- Returns  'published', or why not: 'lost' (the lease), 'held', 'changed'
local lease, current, models, cards, order = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local token, version, model, card, compared, keep = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])

if redis.call('GET', lease) ~= token then
  return 'lost'
end
if redis.call('HGET', current, 'held') == '1' then
  return 'held'
end
if (redis.call('HGET', current, 'version') or '') ~= compared then
  return 'changed'
end
local serial = redis.call('HINCRBY', current, 'serial', 1)
redis.call('HSET', current, 'version', version)
redis.call('HSET', models, version, model)
redis.call('HSET', cards, version, card)
redis.call('ZADD', order, serial, version)
local spare = redis.call('ZCARD', order) - keep
if spare > 0 then
  for _, old in ipairs(redis.call('ZRANGE', order, 0, spare - 1)) do
    redis.call('ZREM', order, old)
    redis.call('HDEL', models, old)
    redis.call('HDEL', cards, old)
  end
end
return 'published'
