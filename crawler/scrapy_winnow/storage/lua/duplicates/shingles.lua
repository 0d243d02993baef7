-- Shingles of documents, 6 bytes each and joined, and what two documents have in common.

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
