-- Keep a settled host alive, or open it again, if its labels are still those that the caller knows.
--
-- KEYS[1]  hash, the state of the host: see count_page.lua
-- ARGV     stamp of the labels; time to live in seconds; 1 to have the host count again, 0 to leave it settled
-- Returns  1 if the caller's labels are the host's, 0 if not; then nothing is done
local host, stamp, ttl, reopen = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1'

if redis.call('HGET', host, 'stamp') ~= stamp then
  return 0
end
if reopen then
  redis.call('HDEL', host, 'labels', 'stamp', 'expected', 'pages')
end
redis.call('HSET', host, 'used', redis.call('TIME')[1])
redis.call('EXPIRE', host, ttl)
return 1
