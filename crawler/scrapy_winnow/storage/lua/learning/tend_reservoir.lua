-- Take hosts whose examples have expired off the list, add the bytes up anew, and let more hosts in if there is room.
--
-- KEYS[1]  sorted set: host -> priority
-- KEYS[2]  hash: host -> bytes of its examples
-- KEYS[3]  hash: limit, bytes
-- ARGV     what the names of the hosts' examples begin with; hosts that were found without examples
-- Returns  {hosts, bytes}
local hosts, sizes, state = KEYS[1], KEYS[2], KEYS[3]

local before = redis.call('ZCARD', hosts)
for number = 2, #ARGV do
  if redis.call('EXISTS', ARGV[1] .. ARGV[number]) == 0 then
    redis.call('ZREM', hosts, ARGV[number])
    redis.call('HDEL', sizes, ARGV[number])
  end
end
local total = 0
for _, bytes in ipairs(redis.call('HVALS', sizes)) do
  total = total + bytes
end
local left = redis.call('ZCARD', hosts)
if redis.call('EXISTS', state) == 1 then
  redis.call('HSET', state, 'bytes', total)
  -- The limit only falls while hosts come in. What goes makes room for as many again.
  local limit = redis.call('HGET', state, 'limit') or ''
  if limit ~= '' and left < before then
    redis.call('HSET', state, 'limit', left == 0 and '' or string.format('%.0f', tonumber(limit) * before / left))
  end
end
return { left, total }
