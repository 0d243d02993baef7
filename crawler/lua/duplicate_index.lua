-- The index of near-duplicates: what find_duplicates.lua and decide_documents.lua begin with. Of every rule here there is
-- a twin in detector/near_duplicates.py, which says what the index does; the tests compare the two.
--
-- KEYS[1]  hash: seq (originals entered so far), shards (number of hashes of buckets), hot (shingles that are hot now)
-- ARGV     1 what the names of further keys begin with; 2 the time and 3 the time to live, in seconds; 4 most documents;
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
local prefix, now, ttl, cap = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local most_ids, compared, needed = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local least_resemblance, most_candidates = tonumber(ARGV[9]), tonumber(ARGV[10])
local most_forgotten, writing = tonumber(ARGV[11]), ARGV[12] == '1'
local meta, queue = KEYS[1], prefix .. 'q'
-- The hashes are given another life by the first write in each period of the time to live, which their field e notes: so
-- they outlive all that is in them, and go by themselves when nobody uses the index any more.
local period, life = math.floor(now / ttl), 3 * ttl
local SHINGLE, ID = 6, 8
local ORIGINAL, COPY, EMPTY = 1, 2, 3

local stored = call('HMGET', meta, 'seq', 'shards', 'hot')
local seq, shards, hot_shingles = tonumber(stored[1] or 0), tonumber(stored[2] or ARGV[5]), tonumber(stored[3] or 0)
local record_shards = math.max(1, shards / 16)
local queued_ids = call('LLEN', queue)
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

local function record_of(value)
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

-- The first shingles of a sketch, joined: those that verdicts go by.
local function compared_part(sketch)
  return sub(sketch, 1, SHINGLE * compared)
end

local function digest_of(part)
  return pack('>I6', tonumber(sub(redis.sha1hex(part), 1, 12), 16))
end

local function shingles_of(part)
  local parts = {}
  for at = 1, #part, SHINGLE do
    parts[#parts + 1] = sub(part, at, at + SHINGLE - 1)
  end
  return parts
end

-- A document of fewer shingles than make a near-duplicate is only found by the digest of all of them.
local function looked_up_shingles(part)
  return #part < SHINGLE * needed and {} or shingles_of(part)
end

-- Of the smallest shingles of both documents together, so many as are known of both: the share that both have.
local function resemblance(a, a_complete, b, b_complete)
  local most = math.huge
  if a_complete == 0 then
    most = #a / SHINGLE
  end
  if b_complete == 0 then
    most = math.min(most, #b / SHINGLE)
  end
  local i, j, seen, common = 1, 1, 0, 0
  while seen < most and (i < #a or j < #b) do
    local x = i < #a and unpack_fields('>I6', a, i) or math.huge
    local y = j < #b and unpack_fields('>I6', b, j) or math.huge
    if x == y then
      common = common + 1
    end
    if x <= y then
      i = i + SHINGLE
    end
    if y <= x then
      j = j + SHINGLE
    end
    seen = seen + 1
  end
  return string.format('%.4f', common / seen)
end

local function common_shingles(part, other)
  local own, common = {}, 0
  for _, shingle in ipairs(shingles_of(part)) do
    own[shingle] = true
  end
  for _, shingle in ipairs(shingles_of(other)) do
    if own[shingle] then
      common = common + 1
    end
  end
  return common
end

-- How much a document has in common with an original; nil unless it is enough for a near-duplicate.
local function closeness(document, part, record)
  local other = compared_part(record.sketch)
  if part == other then
    return math.huge
  end
  if math.min(#part, #other) < SHINGLE * needed then
    return nil
  end
  if least_resemblance > 0 then
    local share = tonumber(resemblance(document.sketch, document.complete, record.sketch, record.complete))
    return share >= least_resemblance and share or nil
  end
  local common = common_shingles(part, other)
  return common >= needed and common or nil
end

-- A bucket as the scripts pass it on: its key, its field, the ids in it, and when its hash was last renewed.
local function read_bucket(shingle)
  local key = bucket_key(shingle)
  local values = call('HMGET', key, shingle, 'e')
  return {key = key, shingle = shingle, ids = values[1], renewed = tonumber(values[2] or -1)}
end

local function enter_bucket(bucket, id)
  local ids = bucket.ids
  if not ids then
    ids = id
  elseif #ids == 4 then
    ids = pack('>I4', unpack_fields('>I4', ids) + 1)
  elseif #ids < ID * most_ids then
    ids = ids .. id
  else
    ids = pack('>I4', #ids / ID + 1)
    hot_shingles = hot_shingles + 1
  end
  write_field(bucket.key, bucket.shingle, ids, bucket.renewed)
end

local function take_out_shingle(shingle, id)
  local key = bucket_key(shingle)
  local ids = call('HGET', key, shingle)
  if not ids then
    return
  end
  local kept = {}
  if #ids == 4 then
    local count = unpack_fields('>I4', ids) - 1
    if count > 0 then
      kept[1] = pack('>I4', count)
    else
      hot_shingles = hot_shingles - 1
    end
  else
    for at = 1, #ids, ID do
      local other = sub(ids, at, at + ID - 1)
      if other ~= id then
        kept[#kept + 1] = other
      end
    end
  end
  if #kept > 0 then
    call('HSET', key, shingle, table.concat(kept))
  else
    call('HDEL', key, shingle)
  end
end

local function take_out_shingles(id, record)
  if record.kind ~= ORIGINAL then
    return
  end
  local part = compared_part(record.sketch)
  for _, shingle in ipairs(looked_up_shingles(part)) do
    take_out_shingle(shingle, id)
  end
  local digest = digest_of(part)
  local key = bucket_key(digest)
  if call('HGET', key, digest) == id then
    call('HDEL', key, digest)
  end
end

local function renew_keys(record)
  if record.kind == ORIGINAL then
    local part = compared_part(record.sketch)
    for _, shingle in ipairs(looked_up_shingles(part)) do
      call('EXPIRE', bucket_key(shingle), life)
    end
    call('EXPIRE', bucket_key(digest_of(part)), life)
  end
end

-- Forget the documents that are due; one that was met since it was queued gets another turn.
local function forget()
  for step = 1, most_forgotten do
    local over = queued_ids > cap
    if queued_ids == 0 or not over and head_due and head_due > now then
      return
    end
    local id = call('LINDEX', queue, 0)
    local record = read_record(id)
    head_due = record and record.queued + ttl
    if record and not over and head_due > now then
      return
    end
    call('LPOP', queue)
    head_due = nil
    if record and record.met and not (over and step == most_forgotten) then
      record.met, record.queued = false, now
      call('RPUSH', queue, id)
      write_record(id, record)
      renew_keys(record)
    else
      queued_ids = queued_ids - 1
      if record then
        take_out_shingles(id, record)
        call('HDEL', record_key(id), id)
      end
    end
  end
end

-- The original that a document repeats: its id and record, how many of the document's shingles are hot, and where there
-- is no original the document's buckets, that of its digest last.
local function search(document, part, digest)
  local id = document.id
  local exact = read_bucket(digest)
  local other = exact.ids
  if other and other ~= id then
    local record = read_record(other)
    if record and record.kind == ORIGINAL and compared_part(record.sketch) == part then
      return other, record, 0
    end
  end
  local counts, order, buckets, hot = {}, {}, {}, 0
  for place, shingle in ipairs(looked_up_shingles(part)) do
    local bucket = read_bucket(shingle)
    local ids = bucket.ids
    buckets[place] = bucket
    if ids and #ids == 4 then
      hot = hot + 1
    elseif ids then
      for at = 1, #ids, ID do
        other = sub(ids, at, at + ID - 1)
        if other ~= id then
          if not counts[other] then
            order[#order + 1] = other
            counts[other] = 0
          end
          counts[other] = counts[other] + 1
        end
      end
    end
  end
  local least, candidates = least_resemblance > 0 and 1 or math.max(1, needed - hot), {}
  for place, candidate in ipairs(order) do
    if counts[candidate] >= least then
      candidates[#candidates + 1] = {id = candidate, count = counts[candidate], place = place}
    end
  end
  table.sort(candidates, function(one, two)
    if one.count ~= two.count then
      return one.count > two.count
    end
    return one.place < two.place
  end)
  local best, best_record, most = nil, nil, 0
  for place = 1, math.min(#candidates, most_candidates) do
    local candidate = candidates[place].id
    local record = read_record(candidate)
    if record and record.kind == ORIGINAL then
      local close = closeness(document, part, record)
      if close and (close > most or close == most and record.seq < best_record.seq) then
        best, best_record, most = candidate, record, close
      end
    end
  end
  exact.ids = nil
  buckets[#buckets + 1] = exact
  return best, best_record, hot, buckets
end

local function write_verdict(document, known, digest, original, original_record, buckets, renewed)
  local id = document.id
  if not known then
    call('RPUSH', queue, id)
    queued_ids = queued_ids + 1
  end
  local record = {queued = known and known.queued or now, met = known ~= nil}
  if original then
    record.kind, record.digest, record.original = COPY, digest, original
    mark_met(original, original_record)
  else
    seq = seq + 1
    record.kind, record.seq, record.url = ORIGINAL, seq, document.url
    record.complete, record.sketch = document.complete, document.sketch
    for _, bucket in ipairs(buckets) do
      enter_bucket(bucket, id)
    end
  end
  write_record(id, record, renewed)
end

-- The verdict on a document {id, url, sketch, complete}: address and id of the original, or of itself where it is one;
-- resemblance; number of hot shingles. Nothing at all for a document without words.
local function verdict_on(document)
  local id = document.id
  local values = call('HMGET', record_key(id), id, 'e')
  local known, renewed = values[1] and record_of(values[1]) or nil, tonumber(values[2] or -1)
  local part = compared_part(document.sketch)
  if part == '' then
    if known and writing then
      take_out_shingles(id, known)
      write_record(id, {kind = EMPTY, queued = known.queued, met = true}, renewed)
    end
    return {}
  end
  if known and known.kind == ORIGINAL and compared_part(known.sketch) == part then
    if writing then
      local changed = known.sketch ~= document.sketch
      known.sketch, known.complete = document.sketch, document.complete
      if changed or not known.met then
        known.met = true
        write_record(id, known, renewed)
      end
    end
    return {cluster = id, hot = 0}
  end
  local digest = digest_of(part)
  local original, record, hot = nil, nil, 0
  if known and known.kind == COPY and known.digest == digest then
    record = read_record(known.original)
    if record and record.kind == ORIGINAL and closeness(document, part, record) then
      original = known.original
      if writing then
        mark_met(id, known)
        mark_met(original, record)
      end
    end
  end
  if not original then
    local buckets
    if known and writing then
      take_out_shingles(id, known)
    end
    original, record, hot, buckets = search(document, part, digest)
    if writing then
      write_verdict(document, known, digest, original, record, buckets, renewed)
    end
  end
  if not original then
    return {cluster = id, hot = hot}
  end
  local share = resemblance(document.sketch, document.complete, record.sketch, record.complete)
  return {duplicate_of = record.url, cluster = original, resemblance = share, hot = hot}
end

local function decide(document)
  local verdict = verdict_on(document)
  if writing then
    forget()
  end
  return verdict
end

local function save()
  call('HSET', meta, 'seq', seq, 'shards', shards, 'hot', hot_shingles)
  call('EXPIRE', meta, life)
  call('EXPIRE', queue, life)
end
