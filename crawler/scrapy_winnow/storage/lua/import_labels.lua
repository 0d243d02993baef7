-- Give a host that is not known the labels that another crawl has learned; it is settled then.
--
-- KEYS[1]  hash, the state of the host: see count_page.lua
-- KEYS[2]  and all others of the host: there are none while it is settled
-- ARGV     labels as count_page.lua packs them; pages; matched text expected per page; version; time to live in seconds
-- Returns  1, or 0 where the host is known already; then nothing is done
local host = KEYS[1]
local labels, pages, expected, version, ttl = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])

local stamp = redis.sha1hex(labels .. pages)
local known = redis.call('HMGET', host, 'stamp', 'used')
if known[1] == stamp then
  return 1 -- this very call, sent twice
end
if known[2] then
  return 0
end
redis.call('DEL', unpack(KEYS, 2))
redis.call('HSET', host, 'labels', labels, 'stamp', stamp, 'pages', pages, 'expected', expected, 'version', version,
  'used', redis.call('TIME')[1])
redis.call('EXPIRE', host, ttl)
return 1
