-- Count the nodes of one page for its host, once, and return their entries; settle the host when it is time.
--
-- KEYS[1]  hash, the state of the host: pages counted, undercount (most that any node can be undercounted by), entries
--          (number of nodes held), checked (pages at the last checkpoint), used (time of the last page, in seconds),
--          version (how often its labels were frozen). While it is settled also labels (per node its fingerprint and
--          one byte for its share of pages, 255 for all), stamp (hash of them), expected (matched text per page).
-- KEYS[2]  hash: node fingerprint -> entry, see entries.lua; gone while the host is settled
-- KEYS[3]  string: the 8-byte ids of the pages counted and of their contents, joined; gone while the host is settled
-- ARGV     id of the page; id of its contents; distinct fingerprints, 8 bytes each, joined; characters of the text of
--          each, one byte each; budget of nodes; most pages to count; time to live of the host in seconds; least pages
--          to settle after, 0 for never; share of pages of a template
-- Returns  {1 if counted now, 0 if it had been, pages, undercount, version, entries in the order of the fingerprints,
--          1 if the host has settled now} or, of a settled host, {2, pages, stamp, version, labels, expected}
local host, nodes, guard = KEYS[1], KEYS[2], KEYS[3]
local page_id, contents_id, joined, masses = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local budget, most_pages, ttl = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local settle_after, theta = tonumber(ARGV[8]), tonumber(ARGV[9])
local NONE = string.char(0, 0, 0, 0, 0)

local function is_among(ids, id)
  local at = string.find(ids, id, 1, true)
  while at and at % 8 ~= 1 do
    at = string.find(ids, id, at + 1, true)
  end
  return at ~= nil
end

local state = redis.call('HMGET', host, 'stamp', 'pages', 'undercount', 'entries', 'checked', 'version', 'labels', 'expected')
local stamp, version = state[1], tonumber(state[6] or 0)
local pages, undercount, entries = tonumber(state[2] or 0), tonumber(state[3] or 0), tonumber(state[4] or 0)
if stamp then
  redis.call('HSET', host, 'used', redis.call('TIME')[1])
  redis.call('EXPIRE', host, ttl)
  return { 2, pages, stamp, version, state[7], state[8] }
end

-- The keys live and die together: with one of them evicted, counts and guard would disagree.
local ids = redis.call('GET', guard) or ''
local held = redis.call('HLEN', nodes)
if held ~= entries or #ids ~= 16 * pages then
  redis.call('DEL', nodes, guard)
  redis.call('HDEL', host, 'pages', 'undercount', 'entries', 'checked')
  pages, undercount, entries, ids, state[5] = 0, 0, 0, '', false
end

-- A page is new by its address and by its contents: one page at many addresses would look like template.
local is_new = pages < most_pages and not is_among(ids, page_id) and not is_among(ids, contents_id)
local fields = {}
for at = 1, #joined, 8 do
  fields[#fields + 1] = string.sub(joined, at, at + 7)
end
local found = look_up(nodes, fields)

local has_settled = false
if is_new then
  pages = pages + 1
  local written, fresh = {}, {}
  for i, field in ipairs(fields) do
    if found[i] then
      local seen, missed, mass, was_template = decode(found[i])
      found[i] = encode(seen + 1, missed, mass, was_template)
      written[#written + 1] = field
      written[#written + 1] = found[i]
    else
      fresh[#fresh + 1] = i
    end
  end
  in_batches('HSET', nodes, written)
  if entries + #fresh > budget then
    undercount = drop_rare(nodes, undercount, budget)
    entries = redis.call('HLEN', nodes)
  end
  local taken = {}
  for k, i in ipairs(fresh) do
    found[i] = encode(1, undercount, string.byte(masses, i), false)
    if k <= budget - entries then
      taken[#taken + 1] = fields[i]
      taken[#taken + 1] = found[i]
    end
  end
  in_batches('HSET', nodes, taken)
  if #fresh > budget - entries then
    undercount = math.min(undercount + 1, pages)
  end
  entries = entries + #taken / 2
  redis.call('SET', guard, ids .. page_id .. contents_id) -- APPEND would keep room for more
  redis.call('HSET', host, 'pages', pages, 'undercount', undercount, 'entries', entries, 'used', redis.call('TIME')[1])

  -- Checkpoints are at half of the least pages to settle after, then whenever the pages have doubled.
  local due = state[5] and 2 * state[5] or settle_after * 2 ^ (math.min(version, 4) - 1)
  local must = pages >= most_pages
  if settle_after > 0 and (pages >= due or must) then
    has_settled = checkpoint(host, nodes, guard, pages, version, theta, must)
  end
  version = has_settled and version + 1 or version
  redis.call('EXPIRE', host, ttl)
  redis.call('EXPIRE', nodes, ttl)
  redis.call('EXPIRE', guard, ttl)
end

for i = 1, #fields do
  found[i] = found[i] or NONE
end
return { is_new and 1 or 0, pages, undercount, version, table.concat(found), has_settled and 1 or 0 }
