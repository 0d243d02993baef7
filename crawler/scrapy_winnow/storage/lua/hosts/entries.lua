-- The entries of a host's hash of nodes: fingerprint (8 bytes) -> 5 bytes, numbers with the low byte first:
--   2  pages seen with the node since it was taken in
--   2  most pages with it that can have been missed before; the top bit says "template at the last checkpoint"
--   1  characters of its text, at most 255
-- detector/winnow/counting.py says what seen and missed mean, and why the table may drop its rarest entries.
local BATCH = 2000 -- fields per command; Lua's unpack gives up near 8,000 values
local KEPT = 0.9 -- share of the budget that is left in use when rare entries are dropped

-- Take an entry apart; one of another length is not ours, and says nothing.
local function decode(entry)
  if #entry ~= 5 then
    return 0, 0, 0, false
  end
  local a, b, c, d, mass = string.byte(entry, 1, 5)
  local was_template = d >= 128
  return a + 256 * b, c + 256 * (was_template and d - 128 or d), mass, was_template
end

local function encode(seen, missed, mass, is_template)
  local high = math.floor(missed / 256)
  return string.char(seen % 256, math.floor(seen / 256), missed % 256, is_template and high + 128 or high, mass)
end

-- Call a command with a key and many values.
local function in_batches(command, key, values)
  for from = 1, #values, 2 * BATCH do
    redis.call(command, key, unpack(values, from, math.min(from + 2 * BATCH - 1, #values)))
  end
end

-- Look fields up: entries, or false for what is not there, in the order of the fields.
local function look_up(key, fields)
  local found = {}
  for from = 1, #fields, BATCH do
    local to = math.min(from + BATCH - 1, #fields)
    local values = redis.call('HMGET', key, unpack(fields, from, to))
    for i = 1, to - from + 1 do
      found[from + i - 1] = values[i]
    end
  end
  return found
end

-- Drop the entries of the smallest counts, so many that KEPT of the budget is in use; return the new undercount.
local function drop_rare(key, undercount, budget)
  local all = redis.call('HGETALL', key)
  local sure, with = {}, {}
  for i = 1, #all, 2 do
    local seen, missed = decode(all[i + 1])
    local count = math.max(seen + missed - undercount, 0)
    sure[i] = count
    with[count] = (with[count] or 0) + 1
  end
  local left, dropped = #all / 2 - (with[0] or 0), 0
  while left > math.floor(KEPT * budget) do
    dropped = dropped + 1
    left = left - (with[dropped] or 0)
  end
  local rare = {}
  for i = 1, #all, 2 do
    if sure[i] <= dropped then
      rare[#rare + 1] = all[i]
    end
  end
  in_batches('HDEL', key, rare)
  return undercount + dropped
end
