-- What was on the pages that were counted, so that one that comes again with other contents takes its old count back.
-- They are held as long as the table of nodes is exact, and only in memory that a full table would take anyway.
local ROOM = 6 -- fingerprints held, of 8 bytes, for each free place of the table, which would take 30 to 64
local MOST_PAGE_NODES = 10000 -- a page that holds more is not ours

-- Where an id stands among the ids of pages (`from` = 1) or of their contents (`from` = 9); nil for nowhere.
local function place_of(ids, id, from)
  local at = string.find(ids, id, 1, true)
  while at and at % 16 ~= from do
    at = string.find(ids, id, at + 1, true)
  end
  return at
end

local function split(joined)
  local fields = {}
  for at = 1, #joined, 8 do
    fields[#fields + 1] = string.sub(joined, at, at + 7)
  end
  return fields
end

-- What a page had when it was counted, its fingerprints joined; nil where that is not held.
local function remembered(pages_key, page_id)
  local size = redis.call('HSTRLEN', pages_key, page_id)
  return size % 8 == 0 and size <= 8 * MOST_PAGE_NODES and redis.call('HGET', pages_key, page_id) or nil
end

-- Take the count of a page back; return how many nodes were on no other page, and are gone.
local function take_off(nodes, fields)
  local found, written, gone = look_up(nodes, fields), {}, {}
  for i, field in ipairs(fields) do
    if found[i] then
      local seen, missed, mass, was_template = decode(found[i])
      if seen > 1 then
        written[#written + 1] = field
        written[#written + 1] = encode(seen - 1, missed, mass, was_template)
      else
        gone[#gone + 1] = field
      end
    end
  end
  in_batches('HSET', nodes, written)
  in_batches('HDEL', nodes, gone)
  return #gone
end

-- Hold what is on a page that was counted, or nothing at all of the host where there is no room for it.
local function remember(pages_key, page_id, joined, held, room, is_exact)
  held = held + #joined / 8
  if is_exact and held <= ROOM * room then
    redis.call('HSET', pages_key, page_id, joined)
    return held
  end
  redis.call('DEL', pages_key)
  return 0
end
