-- Count the nodes of one page for its host, once, and return their entries; settle the host when it is time. A page
-- that comes again with other contents replaces what was counted of it.
--
-- KEYS[1]  hash, the state of the host: pages counted, undercount (most that any node can be undercounted by), entries
--          (number of nodes held), checked (pages at the last checkpoint), used (time of the last page, in seconds),
--          version (how often its labels were frozen), changed (pages that have come again and looked like another
--          site's), remembered (fingerprints in KEYS[4]). While it is settled also labels (per node its fingerprint and
--          one byte for its share of pages, 255 for all), stamp (hash of them), expected (matched text per page).
-- KEYS[2]  hash: node fingerprint -> entry, see entries.lua; gone while the host is settled
-- KEYS[3]  string: the 8-byte ids of the pages counted and of their contents, joined; gone while the host is settled
-- KEYS[4]  hash: id of a page -> the fingerprints that were counted of it, joined; see replacing.lua
-- ARGV     id of the page; id of its contents; distinct fingerprints, 8 bytes each, joined; characters of the text of
--          each, one byte each; budget of nodes; most pages to count; time to live of the host in seconds; least pages
--          to settle after, 0 for never; share of pages of a template
-- Returns  {1 if counted now, 3 if it has replaced what had been, 0 if it is counted already, pages, undercount, version,
--          entries in the order of the fingerprints, 1 if the host has settled now} or, of a settled host, {2, pages, stamp, version, labels, expected}
local host, nodes, guard, contents = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local page_id, contents_id, joined, masses = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local budget, most_pages, ttl = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local settle_after, theta = tonumber(ARGV[8]), tonumber(ARGV[9])
local MIN_CHANGED, KNOWN = 5, 1 / 3 -- least pages that make a redesign; share of a page's text that is known, at most
local NONE = string.char(0, 0, 0, 0, 0)

-- Whether less than KNOWN of a page's text is in the table; pages with hardly any text say nothing.
local function is_of_another_design(entries_of_page, masses_of_page)
  local known, all = 0, 0
  for i = 1, #masses_of_page do
    local mass = string.byte(masses_of_page, i)
    all = all + mass
    if entries_of_page[i] then
      known = known + mass
    end
  end
  return all > 0 and known < KNOWN * all
end

local state = read_state(host, nodes, guard, contents, budget)
local pages, undercount, entries = state.pages, state.undercount, state.entries
local version, ids, checked, held = state.version, state.ids, state.is_checked and state.checked, state.remembered
if state.stamp then
  redis.call('HSET', host, 'used', redis.call('TIME')[1])
  redis.call('EXPIRE', host, ttl)
  return { 2, pages, state.stamp, version, state.labels, tostring(state.expected) }
end

-- The keys live and die together: with one of them evicted, counts and guard would disagree.
local function start_anew()
  -- Nothing is deleted where nothing is: a script that has written once may go on where the memory is full.
  if redis.call('EXISTS', host, nodes, guard, contents) > 0 then
    redis.call('DEL', nodes, guard, contents)
    redis.call('HDEL', host, 'pages', 'undercount', 'entries', 'checked', 'changed', 'remembered')
  end
  pages, undercount, entries, ids, checked, held = 0, 0, 0, '', false, 0
end

if pages == 0 or state.held ~= entries or #ids ~= 16 * pages then
  start_anew()
end

-- A page is new by its address and by its contents: one page at many addresses would look like template.
local at = place_of(ids, page_id, 1)
local is_known, is_replaced = at ~= nil, false
local has_changed = is_known and string.sub(ids, at + 8, at + 15) ~= contents_id
local before = has_changed and remembered(contents, page_id)
if before then
  local had = split(before)
  entries = entries - take_off(nodes, had)
  pages, held = pages - 1, math.max(held - #had, 0)
  ids = string.sub(ids, 1, at - 1) .. string.sub(ids, at + 16)
  redis.call('HDEL', contents, page_id)
  is_known, is_replaced = false, true
end
local fields = split(joined)
local found = look_up(nodes, fields)

-- Where it is not known what the page had, one that comes again with little of what the host's pages have is a sign of
-- a redesign, at the same addresses. When a third of the pages has come so, the counts are of a site that is no more.
if has_changed and is_known and is_of_another_design(found, masses) then
  if redis.call('HINCRBY', host, 'changed', 1) >= math.max(MIN_CHANGED, pages / 3) then
    start_anew()
    is_known, found = false, {}
  end
end
local is_same = place_of(ids, contents_id, 9) ~= nil
local is_new = pages < most_pages and not is_known and not is_same

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
  ids = ids .. page_id .. contents_id
  held = remember(contents, page_id, joined, held, budget - entries, undercount == 0)
end
if is_new or is_replaced then
  redis.call('SET', guard, ids) -- APPEND would keep room for more
  redis.call('HSET', host, 'pages', pages, 'undercount', undercount, 'entries', entries, 'remembered', held)

  -- Checkpoints are at half of the least pages to settle after, then whenever the pages have doubled.
  local due = checked and 2 * checked or settle_after * 2 ^ (math.min(version, 4) - 1)
  local must = pages >= most_pages
  if settle_after > 0 and (pages >= due or must) then
    has_settled = checkpoint(host, nodes, guard, contents, pages, version, theta, must)
  end
  version = has_settled and version + 1 or version
end
redis.call('HSET', host, 'used', redis.call('TIME')[1])
-- A host lives as long as its pages come, new ones or not.
redis.call('EXPIRE', host, ttl)
redis.call('EXPIRE', nodes, ttl)
redis.call('EXPIRE', guard, ttl)
redis.call('EXPIRE', contents, ttl)

for i = 1, #fields do
  found[i] = found[i] or NONE
end
local counted = is_replaced and 3 or is_new and 1 or 0
return { counted, pages, undercount, version, table.concat(found), has_settled and 1 or 0 }
