-- One part of the near-duplicate index of a cluster: operations on its buckets and records, one after the other.
--
-- KEYS[1]  a name with the tag of the part, which says on which server it is; there is no such key
-- ARGV     1 what the names of the part's keys begin with; 2 generation that is written to; 3 hashes of buckets in a
--          generation; 4 seconds that a hash lives; 5 most ids in a bucket; then per operation its name, field and value
-- Returns  per operation
--            look   a shingle             ids of the originals that have it, 8 bytes each, joined
--            enter  a shingle, an id      1 when the id is in the bucket, 0 when that is full
--            leave  a shingle, an id      1
--            read   an id                 its record and the generations since it was written; '' and 0 for none
--            write  an id, its record     1
--
-- Further keys: PREFIX s<generation>.<number>, hashes of buckets; PREFIX d<generation>.<number>, hashes of records. Both
-- the generation that is written to and the one before it are read; older ones expire.
local byte, sub = string.byte, string.sub
local prefix, generation, hashes = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local life, most = ARGV[4], 8 * tonumber(ARGV[5])
local ID, PARTS = 8, 16
local of_records = math.max(1, math.floor(hashes / 16))

local function key_of(kind, field, age)
  local a, b, c = byte(field, #field - 2, #field)
  local number = math.floor((a * 65536 + b * 256 + c) / PARTS) % (kind == 's' and hashes or of_records)
  return prefix .. kind .. (generation - age) .. '.' .. number
end

-- What a field holds; a key of another type is not ours, and holds nothing.
local function value_of(kind, field, age)
  local value = redis.pcall('HGET', key_of(kind, field, age), field)
  return type(value) == 'string' and value or nil
end

local function put(kind, field, value)
  local key = key_of(kind, field, 0)
  local reply = redis.pcall('HSET', key, field, value)
  if type(reply) == 'table' and string.find(reply.err, 'WRONGTYPE', 1, true) then
    redis.call('DEL', key)
    redis.call('HSET', key, field, value)
  elseif type(reply) == 'table' then
    error(reply.err, 0)
  end
  if redis.call('HLEN', key) == 1 then
    redis.call('EXPIRE', key, life)
  end
end

local function ids_in(shingle, age)
  local ids = value_of('s', shingle, age)
  return ids and #ids % ID == 0 and ids or ''
end

local function place_of(ids, id)
  for at = 1, #ids, ID do
    if sub(ids, at, at + ID - 1) == id then
      return at
    end
  end
  return nil
end

local operations = {}

function operations.look(shingle)
  return ids_in(shingle, 0) .. ids_in(shingle, 1)
end

function operations.enter(shingle, id)
  local ids = ids_in(shingle, 0)
  if place_of(ids, id) then
    return 1
  end
  if #ids >= most then
    return 0
  end
  put('s', shingle, ids .. id)
  return 1
end

function operations.leave(shingle, id)
  for age = 0, 1 do
    local ids = ids_in(shingle, age)
    local at = place_of(ids, id)
    if at and #ids == ID then
      redis.call('HDEL', key_of('s', shingle, age), shingle)
    elseif at then
      redis.call('HSET', key_of('s', shingle, age), shingle, sub(ids, 1, at - 1) .. sub(ids, at + ID))
    end
  end
  return 1
end

function operations.read(id)
  for age = 0, 1 do
    local record = value_of('d', id, age)
    if record then
      return {record, age}
    end
  end
  return {'', 0}
end

function operations.write(id, record)
  put('d', id, record)
  return 1
end

local replies = {}
for at = 6, #ARGV, 3 do
  replies[#replies + 1] = operations[ARGV[at]](ARGV[at + 1], ARGV[at + 2])
end
return replies
