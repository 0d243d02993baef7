-- The index of near-duplicates: what find_duplicates.lua and decide_documents.lua begin with is this file, then
-- shingles.lua, buckets.lua and verdicts.lua. Of every rule in them there is a twin in
-- detector/winnow/duplicates/index.py, which says what the index does; the tests compare the two.
--
-- KEYS[1]  hash: seq (originals entered so far), shards (number of hashes of buckets), hot (shingles that are hot now)
-- ARGV     1 what the names of further keys begin with; 2 the time, or nothing for the server's own, and 3 the time to
--          live, in seconds; 4 most documents;
--          5 shards for a new index; 6 most originals per shingle; 7 shingles that are compared; 8 shingles in common that
--          make a near-duplicate; 9 least resemblance that makes one instead, 0 for none; 10 most candidates compared;
--          11 most documents forgotten per document; 12 1 to write
--
-- Further keys: PREFIX s<number>, hashes of buckets: field, 6 bytes of a shingle (or of the digest of all of a
-- document's); value, the ids (8 bytes each) of the originals that have it, in the order in which they came, or 4 bytes
-- with their number when the shingle is hot. PREFIX d<number>, hashes of records: field, the id of a document. PREFIX q,
-- list of the ids that have a record, from the one to be forgotten first. All share one hash tag, so one server has them.
local call, byte, sub = redis.call, string.byte, string.sub
local pack, unpack_fields = struct.pack, struct.unpack
local prefix, ttl, cap = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4])
local now = tonumber(ARGV[2]) or tonumber(call('TIME')[1])
local most_ids, compared, needed = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local least_resemblance, most_candidates = tonumber(ARGV[9]), tonumber(ARGV[10])
local most_forgotten, writing = tonumber(ARGV[11]), ARGV[12] == '1'
local meta, queue = KEYS[1], prefix .. 'q'
-- The hashes are given another life by the first write in each period of the time to live, which their field e notes: so
-- they outlive all that is in them, and go by themselves when nobody uses the index any more.
local period, life = math.floor(now / ttl), 3 * ttl
local SHINGLE, ID = 6, 8
local ORIGINAL, COPY, EMPTY = 1, 2, 3

-- What a key holds; one of another type is not ours, and goes.
local function checked(key, command, ...)
  local reply = redis.pcall(command, key, ...)
  if type(reply) == 'table' and reply.err and string.find(reply.err, 'WRONGTYPE', 1, true) and writing then
    call('DEL', key)
    reply = call(command, key, ...)
  end
  return reply
end

-- A whole number in a range, or another one where it is none.
local function whole(value, least, most, otherwise)
  local number = tonumber(value)
  return number and number >= least and number <= most and number % 1 == 0 and number or tonumber(otherwise)
end

local stored = checked(meta, 'HMGET', 'seq', 'shards', 'hot')
local seq, hot_shingles = whole(stored[1], 0, 2 ^ 47, 0), whole(stored[3], 0, 2 ^ 47, 0)
local shards = whole(stored[2], 16, 2 ^ 24, ARGV[5])
local record_shards = math.max(1, math.floor(shards / 16))
local queued_ids = checked(queue, 'LLEN')
local head_due -- when the head of the queue is due; nil when that is not known

local function number_at(text, at)
  local a, b, c = byte(text, at, at + 2)
  return a * 65536 + b * 256 + c
end

local function bucket_key(shingle)
  return prefix .. 's' .. number_at(shingle, 4) % shards
end

local function record_key(id)
  return prefix .. 'd' .. number_at(id, 6) % record_shards
end

-- Write a field; renewed is the period in which the hash was last given another life.
local function write_field(key, field, value, renewed)
  if renewed == period then
    call('HSET', key, field, value)
  else
    call('HSET', key, field, value, 'e', period)
    call('EXPIRE', key, life)
  end
end

local function record_in(value)
  local kind, queued, met = unpack_fields('>BI4B', value)
  local record = {kind = kind, queued = queued, met = met == 1}
  if kind == ORIGINAL then
    local size
    record.seq, record.complete, size = unpack_fields('>I6BI2', value, 7)
    local ends = 15 + SHINGLE * size
    record.sketch, record.url = sub(value, 16, ends), sub(value, ends + 1)
  elseif kind == COPY then
    record.digest, record.original = sub(value, 7, 12), sub(value, 13)
  end
  return record
end

-- The record in a value; nil for a value that is none of ours, whose document is then one that was never met.
local function record_of(value)
  local is_whole, record = pcall(record_in, value)
  if not is_whole or record.kind < ORIGINAL or record.kind > EMPTY then
    return nil
  end
  if record.kind == ORIGINAL and (#record.sketch % SHINGLE ~= 0 or #record.sketch > #value - 15) then
    return nil
  end
  if record.kind == COPY and #record.original ~= ID then
    return nil
  end
  return record
end

local function read_record(id)
  local value = call('HGET', record_key(id), id)
  return value and record_of(value) or nil
end

local function write_record(id, record, renewed)
  local value = pack('>BI4B', record.kind, record.queued, record.met and 1 or 0)
  if record.kind == ORIGINAL then
    local about = pack('>I6BI2', record.seq, record.complete, #record.sketch / SHINGLE)
    value = value .. about .. record.sketch .. record.url
  elseif record.kind == COPY then
    value = value .. record.digest .. record.original
  end
  write_field(record_key(id), id, value, renewed)
end

local function mark_met(id, record)
  if not record.met then
    record.met = true
    write_record(id, record, period)
  end
end
