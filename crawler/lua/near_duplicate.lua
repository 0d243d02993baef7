-- Find the document that a new one nearly duplicates; when there is none, and writing is on, take the new one in.
--
-- KEYS[1]  hash, record of the new document: s its shingles (8 bytes each, joined), u its address
-- KEYS[2+] strings, one bucket per shingle: ids (8 bytes each, joined) of the documents that have it, first come first
-- ARGV     id of the new document; its shingles, joined; its address; shingles in common that make a near-duplicate;
--          most ids per bucket; time to live in seconds; 1 to write; what bucket and record names begin with
-- Returns  the address of the document that was there first, or false
--
-- Names of further keys are made from ARGV; all keys of the index share one hash tag, so they are on one server.
local id, joined, url = ARGV[1], ARGV[2], ARGV[3]
local needed, cap, ttl = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local writing = ARGV[7] == '1'
local buckets_from, records_from = ARGV[8], ARGV[9]

local function split(ids)
  local parts = {}
  for at = 1, #ids, 8 do
    parts[#parts + 1] = string.sub(ids, at, at + 7)
  end
  return parts
end

local function take_out(bucket)
  local kept = {}
  for _, other in ipairs(split(redis.call('GET', bucket) or '')) do
    if other ~= id then
      kept[#kept + 1] = other
    end
  end
  if #kept == 0 then
    redis.call('DEL', bucket)
  else
    redis.call('SET', bucket, table.concat(kept), 'EX', ttl)
  end
end

-- The documents that share shingles, in the order in which they came.
local common, order = {}, {}
for number = 2, #KEYS do
  for _, other in ipairs(split(redis.call('GET', KEYS[number]) or '')) do
    if other ~= id then
      if not common[other] then
        common[other] = 0
        order[#order + 1] = other
      end
      common[other] = common[other] + 1
    end
  end
end
local few = #joined < 8 * needed -- a short text is only a near-duplicate of one with exactly its shingles
local original, most = false, few and 0 or needed - 1
for _, other in ipairs(order) do
  if common[other] > most then
    local record = redis.call('HMGET', records_from .. other, 's', 'u')
    if record[2] and (not few or record[1] == joined) then
      original, most = record[2], common[other]
    end
  end
end
if not writing then
  return original
end

-- A page that is crawled again replaces its own entry; a near-duplicate is represented by the document it repeats.
local earlier = redis.call('HGET', KEYS[1], 's')
local current = {}
if not original then
  for _, shingle in ipairs(split(joined)) do
    current[shingle] = true
  end
end
for _, shingle in ipairs(split(earlier or '')) do
  if not current[shingle] then
    take_out(buckets_from .. shingle)
  end
end
if original then
  redis.call('DEL', KEYS[1])
  return original
end
for number = 2, #KEYS do
  local ids = redis.call('GET', KEYS[number]) or ''
  local present = false
  for _, other in ipairs(split(ids)) do
    present = present or other == id
  end
  if not present and #ids < 8 * cap then
    redis.call('APPEND', KEYS[number], id)
  end
  redis.call('EXPIRE', KEYS[number], ttl)
end
redis.call('HSET', KEYS[1], 's', joined, 'u', url)
redis.call('EXPIRE', KEYS[1], ttl)
return false
