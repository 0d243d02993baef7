-- Take the example of one page into the reservoir, if its host and the page have a place in it.
--
-- KEYS[1]  sorted set: host -> priority
-- KEYS[2]  hash: host -> bytes of its examples
-- KEYS[3]  hash: limit (priority from which on hosts are refused), bytes (of all examples), taken (examples ever)
-- KEYS[4]  hash, the host's examples: page priority (13 hexadecimal digits) -> example
-- ARGV     host; its priority; the page's priority; the example; most pages per host; most hosts; most bytes;
--          time to live in seconds; what the names of the hosts' examples begin with
-- Returns  {1 if taken, limit or '', priority from which on pages of this host are refused or ''}
--
-- Kept are the hosts of the smallest priorities, and of each host the pages of the smallest: the same ones in whatever
-- order and however often they come. Priorities stay strings, since Lua would write them with 14 digits.
-- Names of further keys are made from ARGV; all keys of learning share one hash tag, so they are on one server.
local hosts, sizes, state, examples = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local host, priority, page, example = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local most_pages, most_hosts, budget = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local ttl, examples_from = tonumber(ARGV[8]), ARGV[9]

local MOST_EVICTED = 16 -- hosts per call; a call adds one example, so one is the rule

local limit = redis.call('HGET', state, 'limit') or ''
if limit ~= '' and tonumber(priority) >= tonumber(limit) then
  return { 0, limit, '' }
end

local pages = redis.call('HKEYS', examples)
table.sort(pages)
local known = redis.call('HEXISTS', examples, page) == 1
if not known and #pages >= most_pages and page > pages[most_pages] then
  return { 0, limit, pages[most_pages] }
end
redis.call('HSET', examples, page, example)
if not known then
  pages[#pages + 1] = page
  table.sort(pages)
  for number = #pages, most_pages + 1, -1 do
    redis.call('HDEL', examples, pages[number])
    pages[number] = nil
  end
end
local own = 0
for _, kept in ipairs(pages) do
  own = own + redis.call('HSTRLEN', examples, kept)
end
local total = redis.call('HGET', state, 'bytes')
if not total then
  total = 0
  for _, bytes in ipairs(redis.call('HVALS', sizes)) do
    total = total + bytes
  end
end
total = tonumber(total) + own - tonumber(redis.call('HGET', sizes, host) or 0)
redis.call('ZADD', hosts, priority, host)
redis.call('HSET', sizes, host, own)

local taken = 1
for _ = 1, MOST_EVICTED do
  if total <= budget and redis.call('ZCARD', hosts) <= most_hosts then
    break
  end
  local last = redis.call('ZRANGE', hosts, -1, -1, 'WITHSCORES')
  total = total - tonumber(redis.call('HGET', sizes, last[1]) or 0)
  redis.call('DEL', examples_from .. last[1])
  redis.call('ZREM', hosts, last[1])
  redis.call('HDEL', sizes, last[1])
  limit = last[2]
  if last[1] == host then
    taken = 0
  end
  if redis.call('ZCARD', hosts) == 0 then
    total = 0
    break
  end
end
redis.call('HSET', state, 'bytes', total, 'limit', limit)
if taken == 1 and not known then
  redis.call('HINCRBY', state, 'taken', 1)
end
for _, key in ipairs({ hosts, sizes, state, examples }) do
  redis.call('EXPIRE', key, ttl)
end
return { taken, limit, pages[most_pages] or '' }
