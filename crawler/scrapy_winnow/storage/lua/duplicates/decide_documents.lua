-- Take the next documents off the stream in their order, decide each, and write the verdicts: all in one piece, so that
-- nothing lies between taking a document, deciding it, and saying so.
--
-- KEYS[1], ARGV 1 to 12  as in records.lua
-- KEYS[2], KEYS[3]       the streams of documents and of verdicts
-- ARGV 13 on             group; consumer; most documents to take; milliseconds after which an entry that was delivered
--                        and never acknowledged is taken over; about how many verdicts to keep
-- Returns                entries taken, near-duplicates, entries that are no documents or could not be decided, entries taken over, hot
--                        shingles now
local documents, verdicts = KEYS[2], KEYS[3]
local group, consumer, most, idle, kept = ARGV[13], ARGV[14], tonumber(ARGV[15]), ARGV[16], ARGV[17]

local function hexadecimal(id)
  return id and (string.gsub(id, '.', function(character)
    return string.format('%02x', byte(character))
  end)) or ''
end

-- Shingles come as 8 bytes each; the index goes by their first 6.
local function sketch_of(shingles)
  local parts = {}
  for at = 1, #shingles, 8 do
    parts[#parts + 1] = sub(shingles, at, at + SHINGLE - 1)
  end
  return table.concat(parts)
end

local function read_document(fields)
  local found = {}
  for at = 1, #fields, 2 do
    found[fields[at]] = fields[at + 1]
  end
  local id, shingles, complete = found.id, found.shingles, tonumber(found.complete)
  if not id or #id ~= ID or not found.url or not shingles or #shingles % 8 ~= 0 or #shingles > 8 * 1024 then
    return nil
  end
  if complete ~= 0 and complete ~= 1 then
    return nil
  end
  return {
    id = id, url = found.url, host = found.host or '', label = found.label or '',
    sketch = sketch_of(shingles), complete = complete,
  }
end

-- A server that is out of memory refuses this, and so nothing is taken that could not be decided.
call('HSET', meta, 'shards', shards)
local claimed = call('XAUTOCLAIM', documents, group, consumer, idle, '0-0', 'COUNT', most)
local entries = {}
for _, entry in ipairs(claimed[2]) do
  if entry then -- servers before Redis 7 name those that the stream has lost, too
    entries[#entries + 1] = entry
  end
end
local taken_over = #entries
if taken_over < most then
  local read = call('XREADGROUP', 'GROUP', group, consumer, 'COUNT', most - taken_over, 'STREAMS', documents, '>')
  for _, entry in ipairs(read and read[1][2] or {}) do
    entries[#entries + 1] = entry
  end
end

local near, refused = 0, 0
for _, entry in ipairs(entries) do
  local document = read_document(entry[2])
  if document then
    local verdict, went_well = decide(document)
    if not went_well then
      refused = refused + 1
    end
    if verdict.duplicate_of then
      near = near + 1
    end
    call(
      'XADD', verdicts, 'MAXLEN', '~', kept, '*',
      'entry', entry[1], 'id', hexadecimal(document.id), 'url', document.url, 'host', document.host,
      'label', document.label, 'duplicate_of', verdict.duplicate_of or '',
      'resemblance', verdict.resemblance or '', 'cluster', hexadecimal(verdict.cluster)
    )
  else
    refused = refused + 1
  end
  call('XACK', documents, group, entry[1])
end
if #entries > 0 then
  if type(redis.pcall('HINCRBY', meta, 'decided:' .. group, #entries)) == 'table' then
    call('HSET', meta, 'decided:' .. group, #entries) -- it was no number
  end
  call('EXPIRE', verdicts, life)
  save()
end
return {#entries, near, refused, taken_over, hot_shingles}
