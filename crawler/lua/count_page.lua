-- Count the nodes of one page (or of one chunk of a big page) for its host, once, and return the counts.
--
-- KEYS[1]  hash: node fingerprint (8 bytes) -> number of pages that contain it; one-letter fields are the host's own:
--          p pages counted, u most that any node can be undercounted by, c cursor and f floor of a running sweep
-- KEYS[2]  set: what has been counted: page ids (8 bytes), and page id .. chunk number for further chunks
-- KEYS[3]  set: ids of the contents that have been counted (8 bytes)
-- ARGV     page id; chunk number, from 0; distinct fingerprints, 8 bytes each, joined; budget of fields;
--          most pages to count; time to live of the host in seconds; id of the page's contents
-- Returns  {1 if counted now, pages, undercount, counts in the order of the fingerprints joined by spaces}
local nodes, counted, contents = KEYS[1], KEYS[2], KEYS[3]
local page_id, chunk, joined = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local budget, most_pages, ttl = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local contents_id = ARGV[7]

local BATCH = 2000 -- fields per command; Lua's unpack gives up near 8,000 values
local SWEEP_AT = 0.75 -- share of the budget from which on rare nodes are swept out
local SWEEP_STEP = 1024 -- fields looked at per call, at least

-- Counts and guard live and die together: with one of the two keys evicted, they would disagree.
if redis.call('EXISTS', nodes, counted) == 1 then
  redis.call('DEL', nodes, counted, contents)
end

local fields, counts = {}, {}
for at = 1, #joined, 8 do
  fields[#fields + 1] = string.sub(joined, at, at + 7)
end
for from = 1, #fields, BATCH do
  local to = math.min(from + BATCH - 1, #fields)
  local values = redis.call('HMGET', nodes, unpack(fields, from, to))
  for i = 1, to - from + 1 do
    counts[from + i - 1] = tonumber(values[i] or 0)
  end
end

-- A page is new by its address and by its contents: one page at many addresses would look like template. A further
-- chunk counts only if the page itself did, and each chunk has a guard of its own.
local pages = tonumber(redis.call('HGET', nodes, 'p') or 0)
local is_new
if chunk == 0 then
  is_new = pages < most_pages
    and redis.call('SISMEMBER', counted, page_id) == 0
    and redis.call('SADD', contents, contents_id) == 1
  if is_new then
    redis.call('SADD', counted, page_id)
  end
else
  is_new = redis.call('SISMEMBER', counted, page_id) == 1 and redis.call('SADD', counted, page_id .. chunk) == 1
end

if is_new then
  if chunk == 0 then
    pages = redis.call('HINCRBY', nodes, 'p', 1)
  end
  local room = budget - redis.call('HLEN', nodes)
  local refused = false
  local written = {}
  for i, field in ipairs(fields) do
    local known = counts[i] > 0
    counts[i] = counts[i] + 1
    if known or room > 0 then
      written[#written + 1] = field
      written[#written + 1] = counts[i]
      room = known and room or room - 1
    else
      refused = true
    end
  end
  for from = 1, #written, 2 * BATCH do
    redis.call('HSET', nodes, unpack(written, from, math.min(from + 2 * BATCH - 1, #written)))
  end
  if refused then
    redis.call('HINCRBY', nodes, 'u', 1)
  end

  -- Sweep rare nodes out, a bounded step per call; nodes of more than 5 % of the pages are always left in.
  local cursor = redis.call('HGET', nodes, 'c')
  local floor = tonumber(redis.call('HGET', nodes, 'f') or 1)
  if not cursor and redis.call('HLEN', nodes) > SWEEP_AT * budget then
    cursor = '0'
    redis.call('HINCRBY', nodes, 'u', floor)
  end
  if cursor then
    local step = redis.call('HSCAN', nodes, cursor, 'COUNT', math.max(SWEEP_STEP, 2 * #fields))
    local rare = {}
    for i = 1, #step[2], 2 do
      if #step[2][i] == 8 and tonumber(step[2][i + 1]) <= floor then
        rare[#rare + 1] = step[2][i]
      end
    end
    for from = 1, #rare, BATCH do
      redis.call('HDEL', nodes, unpack(rare, from, math.min(from + BATCH - 1, #rare)))
    end
    if step[1] ~= '0' then
      redis.call('HSET', nodes, 'c', step[1])
    else
      redis.call('HDEL', nodes, 'c')
      local still_full = redis.call('HLEN', nodes) > SWEEP_AT * budget
      redis.call('HSET', nodes, 'f', still_full and math.max(1, math.min(floor + 1, math.floor(pages / 20))) or 1)
    end
  end
  redis.call('EXPIRE', nodes, ttl)
  redis.call('EXPIRE', counted, ttl)
  redis.call('EXPIRE', contents, ttl)
end

return { is_new and 1 or 0, pages, tonumber(redis.call('HGET', nodes, 'u') or 0), table.concat(counts, ' ') }
