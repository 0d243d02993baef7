-- The originals by their shingles: entering them, taking them out, and forgetting them in time.

-- The ids in a bucket, or their number; nil for a value that is neither.
local function ids_in(value)
  if value and (#value == 4 or #value % ID == 0 and #value > 0) then
    return value
  end
  return nil
end

-- A bucket as the scripts pass it on: its key, its field, the ids in it, and when its hash was last renewed.
local function read_bucket(shingle)
  local key = bucket_key(shingle)
  local values = call('HMGET', key, shingle, 'e')
  return {key = key, shingle = shingle, ids = ids_in(values[1]), renewed = tonumber(values[2] or -1)}
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
  local ids = ids_in(call('HGET', key, shingle))
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
