-- The verdict on a document: the original that it repeats, and what is remembered of it.

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

-- Decide a document, and forget some that are due. What goes wrong, with a key of another type for one, goes wrong for
-- this document alone: it repeats nothing, as far as can be told.
local function decide(document)
  local went_well, verdict = pcall(verdict_on, document)
  if writing then
    pcall(forget)
  end
  return went_well and verdict or {}, went_well
end

local function save()
  call('HSET', meta, 'seq', seq, 'shards', shards, 'hot', hot_shingles)
  call('EXPIRE', meta, life)
  call('EXPIRE', queue, life)
end
