-- Count the nodes of one page for its host, once, and return their entries; settle the host when it is time. A page
-- that comes again with other contents replaces what was counted of it. Or only look the nodes up, and write nothing.
--
-- KEYS[1]  hash, the state of the host: pages counted, undercount (most that any node can be undercounted by), entries
--          (number of nodes held), used (time of the last page, in seconds), version (how often its labels were frozen),
--          remembered (fingerprints in KEYS[4]), missed (of the nodes in KEYS[5] on). Of the labels, at the last check:
--          checked (pages by then), labelled (nodes that are template), changed (per mille of the template's text with
--          another label than before), stable_from (pages from which on the labels have hardly changed), settles_at
--          (pages at which the host settles if they do not change, 0 for never). While it is settled also labels (per node
--          its fingerprint and one byte for its fraction of pages, 255 for all), stamp (hash of them), expected (matched
--          text per page).
-- KEYS[2]  hash: node fingerprint -> entry, see below, of nodes on several pages; gone while the host is settled
-- KEYS[3]  string: the 8-byte ids of the pages counted and of their contents, joined; gone while the host is settled
-- KEYS[4]  hash: id of a page -> the fingerprints that were counted of it, joined; see below. The first page of a host
--          is only held here, for a day at most, and with no other key: id -> id of its contents, fingerprints. The next
--          visit counts it, so hosts without end that have a page each leave nothing.
-- KEYS[5]  and seven more, sets: the nodes on one page, most of the table. Up to 512 numbers are packed, 8 bytes each
-- ARGV     id of the page, or '' to only look up; id of its contents; id of its main text, or ''; distinct fingerprints,
--          8 bytes each, joined; characters of the text of each, one byte each; budget of nodes; most pages to count;
--          time to live of the host in seconds; least pages to settle after, 0 for never; fraction of pages that makes a
--          node template; 1 where a host that is not known may be begun, 0 where not; stamp of labels that the host has
--          outgrown: if they are still its own it opens again and counts; or ''
-- Returns  {1 if counted now, 3 if it has replaced its earlier version, 0 if it was counted before, pages, version,
--          entries in the order of the fingerprints, 1 if the host has settled now, 2 if it has opened again, labelled,
--          changed, settles_at} or, of a settled host, {2, pages, stamp, version, labels, expected}; {4} for one that may
--          not be begun, and where damage is looked at
local host, nodes, guard, contents = unpack(KEYS, 1, 4)
local page_id, contents_id, main_text, joined, masses = unpack(ARGV, 1, 5)
local budget, most_pages, ttl = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local settle_after, theta = tonumber(ARGV[9]), tonumber(ARGV[10])
local only_reads, may_begin, outgrown = page_id == '', ARGV[11] == '1', ARGV[12]

local BATCH = 4000 -- values per command, an even number
local BUDGET_KEPT = 0.9 -- fraction of the budget that is left in use when rare entries are dropped
local MAX_NODES = 100000 -- nodes and pages of a host; a table with more is not ours
local LABEL_BYTES = 9 -- a fingerprint, and the fraction of the pages that have it
local PACKED = 512 -- fields of a hash that is packed: to read it whole is cheaper than to look up a page's nodes in it
local MIN_DF = 4 -- pages that have to agree on template, as in tamis.counting
local TOLERANCE = 50 -- per mille of the template's text that may have another label while the labels count as stable
local MIN_CHECK, CHECK_GROWTH = 4, 1 / 8 -- pages between two checks of the labels, and the same as a fraction of the pages
local ROOM = 6 -- fingerprints held, of 8 bytes, for each free place of the table
local MAX_PAGE_NODES = 2000 -- a page that holds more is not ours; Lua's unpack gives up near 8,000 values
local RENEWED = 0.95 -- fraction of its life that a key has left when it is renewed: not for every page
local FIRST_LIFE = 86400 -- seconds that a host with one page is held at most
local NONE = string.char(0, 0, 0, 0, 0)
local OF_LABELS = { 'checked', 'labelled', 'changed', 'stable_from', 'settles_at' } -- numbers of the state, as are:
local COUNTS = { 'pages', 'undercount', 'entries', 'version', 'remembered', 'missed', unpack(OF_LABELS) }

-- The entries of a host's hash of nodes: fingerprint (8 bytes) -> 5 bytes, numbers with the low byte first:
--   2  pages seen with the node since it was taken in
--   2  most pages with it that can have been missed before; the top bit says "template at `stable_from` pages"
--   1  characters of its text, at most 255
-- detector/tamis/counting.py says what seen and missed mean, and why the table may drop its rarest entries.

-- Take an entry apart; one of another length is not ours, and says nothing.
local function decode(entry)
  if #entry ~= 5 then return 0, 0, 0, false end
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
  for from = 1, #values, BATCH do
    redis.call(command, key, unpack(values, from, math.min(from + BATCH - 1, #values)))
  end
end

-- A whole number from 0 on, which is 0 where there is none; nil for anything else.
local function count_in(value)
  local number = tonumber(value or 0)
  return number and number >= 0 and number < 2 ^ 31 and number % 1 == 0 and number or nil
end

-- How many nodes are held: those on several pages, and those on one.
local function count_nodes()
  local count = redis.call('HLEN', nodes)
  for part = 5, 12 do count = count + redis.call('SCARD', KEYS[part]) end
  return count
end

-- The state of the host, checked as it is read; nil where that cannot be ours: numbers that are none, labels of a wrong
-- length, tables that are larger than any of ours. A key of another type is an error, as is a command that is refused.
local function read_state()
  local values = redis.call('HMGET', host, 'stamp', 'expected', unpack(COUNTS))
  local found = { stamp = values[1], expected = tonumber(values[2] or 0), held = count_nodes() }
  found.ids, found.known = redis.call('GET', guard) or '', redis.call('HLEN', contents)
  for i, name in ipairs(COUNTS) do
    found[name] = count_in(values[i + 2])
    if not found[name] then return nil end
  end
  local most = math.max(budget, MAX_NODES)
  if found.held > most or found.known > most then return nil end
  if found.stamp then
    local size, expected = redis.call('HSTRLEN', host, 'labels'), found.expected
    if size % LABEL_BYTES ~= 0 or size > LABEL_BYTES * most then return nil end
    if not (expected and expected >= 0 and expected < math.huge) then return nil end
    found.labels = redis.call('HGET', host, 'labels') or ''
  end
  return found
end

local now = redis.call('TIME')[1]
local is_read, state = pcall(read_state)
if not is_read then
  local refusal = type(state) == 'table' and state.err or state
  if not string.find(refusal, 'WRONGTYPE', 1, true) then error(refusal) end
  state = nil
end
if not state then
  if only_reads then return { 4 } end
  redis.call('DEL', unpack(KEYS)) -- the host starts again
  state = read_state()
end

-- Do a command with the numbers of some nodes in the sets of those on one page: the lower six bytes of their
-- fingerprints, so that a number of Lua holds them. Return for each node whether the reply is 1.
local function with_singles(command, fields)
  local numbers, places, replies = {}, {}, {}
  for part = 5, 12 do numbers[part], places[part] = {}, {} end
  for i, field in ipairs(fields) do
    local number = struct.unpack('<I6', field)
    local own, at = numbers[5 + number % 8], places[5 + number % 8]
    own[#own + 1], at[#at + 1] = number, i
  end
  for part = 5, 12 do
    local found = #places[part] > 0 and redis.call(command, KEYS[part], unpack(numbers[part]))
    for k, i in ipairs(type(found) == 'table' and places[part] or {}) do replies[i] = found[k] == 1 end
  end
  return replies
end

-- Look nodes up: entries, or nil for what is not there, in their order; and which of them are on one page.
local function look_up(fields)
  local found, others, places, is_single = {}, {}, {}, {}
  if redis.call('HLEN', nodes) <= PACKED then
    local all, entries = redis.call('HGETALL', nodes), {}
    for i = 1, #all, 2 do entries[all[i]] = all[i + 1] end
    for i, field in ipairs(fields) do found[i] = entries[field] end
  elseif #fields > 0 then
    for i, entry in ipairs(redis.call('HMGET', nodes, unpack(fields))) do found[i] = entry or nil end
  end
  for i, field in ipairs(fields) do
    if not found[i] then others[#others + 1], places[#others + 1] = field, i end
  end
  for k, is_there in ipairs(with_singles('SMISMEMBER', others)) do
    if is_there then found[places[k]], is_single[places[k]] = encode(1, state.missed, 0, false), true end
  end
  return found, is_single
end

-- Drop the entries of the smallest counts until BUDGET_KEPT of the budget is in use, and note that in the undercount. The nodes on one page have the smallest, and all the same.
local function drop_rare()
  local all = redis.call('HGETALL', nodes)
  local singles, of_single = count_nodes() - #all / 2, math.max(1 + state.missed - state.undercount, 0)
  local sure, with = {}, { [of_single] = singles }
  for i = 1, #all, 2 do
    local seen, not_seen = decode(all[i + 1])
    local count = math.max(seen + not_seen - state.undercount, 0)
    sure[i] = count
    with[count] = (with[count] or 0) + 1
  end
  local left, dropped = #all / 2 + singles - (with[0] or 0), 0
  while left > math.floor(BUDGET_KEPT * budget) do
    dropped = dropped + 1
    left = left - (with[dropped] or 0)
  end
  local rare = {}
  for i = 1, #all, 2 do
    if sure[i] <= dropped then rare[#rare + 1] = all[i] end
  end
  in_batches('HDEL', nodes, rare)
  if of_single <= dropped then redis.call('DEL', unpack(KEYS, 5)) end
  state.undercount = state.undercount + dropped
  state.entries = count_nodes()
end

-- When the labels of a host have stopped changing: they are frozen, and the counts go.

-- Pages at which the host settles if its labels stay as they are: twice as many as it took until they were stable.
local function settling_pages()
  if settle_after == 0 then return 0 end
  return math.min(math.max(settle_after * 2 ^ math.min(state.version, 4), 2 * state.stable_from), most_pages)
end

-- Label all nodes, and note how far the labels differ from those at `stable_from` pages. If they differ much, they are
-- stable from now on at the earliest. A host settles when it is time, but not without any template before it has to.
-- Pages that may have been missed do not count here: a label that is frozen should be right. Returns whether it settled.
local function check_labels()
  local all, pages = redis.call('HGETALL', nodes), state.pages
  local labels, relabelled = {}, {}
  local either, changed, expected = 0, 0, 0
  for i = 1, #all, 2 do
    local seen, missed, mass, was_template = decode(all[i + 1])
    local is_template = seen >= math.max(theta * pages, MIN_DF)
    if is_template then
      local share = math.max(1, math.floor(255 * seen / pages + 0.5))
      labels[#labels + 1] = all[i] .. string.char(share)
      expected = expected + mass * (share / 255) ^ 2
    end
    if is_template or was_template then either = either + seen * mass end
    if is_template ~= was_template then
      changed = changed + seen * mass
      relabelled[#relabelled + 1] = all[i]
      relabelled[#relabelled + 1] = encode(seen, missed, mass, is_template)
    end
  end
  state.checked, state.labelled = pages, #labels
  state.changed = either > 0 and math.floor(1000 * changed / either + 0.5) or 0
  if expected == 0 or state.changed > TOLERANCE then
    state.stable_from = pages
    in_batches('HSET', nodes, relabelled)
  end
  state.settles_at = settling_pages()
  if settle_after == 0 or pages < state.settles_at then return false end
  local joined = table.concat(labels)
  redis.call('DEL', unpack(KEYS, 2))
  redis.call('HDEL', host, 'entries', 'undercount', 'remembered', 'missed', unpack(OF_LABELS))
  state.version = state.version + 1
  redis.call('HSET', host, 'labels', joined, 'stamp', redis.sha1hex(joined .. pages), 'expected', tostring(expected),
    'version', state.version, 'pages', pages, 'used', now)
  return true
end

-- What was on the pages that were counted, so that one that comes again with other contents takes its old count back.
-- They are held as long as the table of nodes is exact, and only in memory that a full table would take anyway.

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
  for at = 1, #joined, 8 do fields[#fields + 1] = string.sub(joined, at, at + 7) end
  return fields
end

-- What a page had when it was counted, its fingerprints joined; nil where that is not held.
local function remembered(id)
  local size = redis.call('HSTRLEN', contents, id)
  return size % 8 == 0 and size <= 8 * MAX_PAGE_NODES and redis.call('HGET', contents, id) or nil
end

-- Take the count of a page back.
local function take_off(fields)
  local found, is_single = look_up(fields)
  local written, gone, singles = {}, {}, {}
  for i, field in ipairs(fields) do
    if is_single[i] then
      singles[#singles + 1] = field
    elseif found[i] then
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
  with_singles('SREM', singles)
  state.pages, state.entries = state.pages - 1, state.entries - #gone - #singles
  state.remembered = math.max(state.remembered - #fields, 0)
end

-- Count what is on a page; `found` has the entries of its nodes, and gets the new ones.
local function add_page(id, fields, joined, masses, found, is_single)
  state.pages = state.pages + 1
  local written, fresh, no_singles = {}, {}, {}
  for i, field in ipairs(fields) do
    if found[i] then
      local seen, not_seen, mass, was_template = decode(found[i])
      if is_single[i] then mass, no_singles[#no_singles + 1] = string.byte(masses, i), field end
      found[i] = encode(seen + 1, not_seen, mass, was_template)
      written[#written + 1] = field
      written[#written + 1] = found[i]
    else
      fresh[#fresh + 1] = i
    end
  end
  in_batches('HSET', nodes, written)
  with_singles('SREM', no_singles)
  if state.entries + #fresh > budget then drop_rare() end
  local room, taken = budget - state.entries, {}
  for k, i in ipairs(fresh) do
    found[i], state.missed = encode(1, state.undercount, 0, false), state.undercount
    if k <= room then taken[k] = fields[i] end
  end
  with_singles('SADD', taken)
  if #fresh > room then state.undercount = math.min(state.undercount + 1, state.pages) end
  state.entries = state.entries + #taken
  -- What was on it is held, or nothing at all of the host where there is no room for it.
  state.remembered = state.remembered + #joined / 8
  if state.undercount == 0 and state.remembered <= ROOM * (budget - state.entries) then
    redis.call('HSET', contents, id, joined)
  else
    redis.call('DEL', contents)
    state.remembered = 0
  end
end

-- Renew the keys that have lost some of their life, or have none.
local function keep_alive(life)
  for _, key in ipairs(KEYS) do
    local left = redis.call('TTL', key)
    if left ~= -2 and left < RENEWED * life then redis.call('EXPIRE', key, life) end
  end
end

local has_reopened = state.stamp == outgrown
if has_reopened then
  redis.call('HDEL', host, 'labels', 'stamp', 'expected', 'pages')
  state.pages = 0
elseif state.stamp then
  if not only_reads then
    redis.call('HSET', host, 'used', now)
    keep_alive(ttl)
  end
  return { 2, state.pages, state.stamp, state.version, state.labels, tostring(state.expected) }
end

-- The keys live and die together: with one of them evicted, counts and guard would disagree.
local is_whole = state.held == state.entries and #state.ids == 16 * state.pages
local fields = split(joined)
local own = #fields
-- The entries of the page's nodes, joined in their order; one of another length is not ours.
local function joined_entries(found)
  for i = 1, own do
    if not found[i] or #found[i] ~= #NONE then found[i] = NONE end
  end
  return table.concat(found, '', 1, own)
end
-- The reply for a page that counts, or is looked up.
local function reply(how, entries, change)
  return { how, state.pages, state.version, entries, change, state.labelled, state.changed, state.settles_at }
end
if only_reads and not is_whole then
  state.pages, state.labelled, state.changed, state.settles_at = 0, 0, 0, 0
  return reply(0, string.rep(NONE, own), 0)
elseif only_reads then
  return reply(0, joined_entries(look_up(fields)), 0)
end

if main_text ~= '' then
  fields[own + 1] = main_text
  joined, masses = joined .. main_text, masses .. string.char(0)
end

-- The first page of the host is the only thing held of it, see KEYS[4].
local first_life = math.min(ttl, FIRST_LIFE)
local first_id, first = nil, ''
if state.pages == 0 and state.held == 0 and state.ids == '' and state.known == 1 then
  first_id, first = unpack(redis.call('HGETALL', contents))
  first_id = #first >= 8 and #first % 8 == 0 and #first <= 8 * MAX_PAGE_NODES and first_id or nil
end
if first_id then
  local had = string.sub(first, 9)
  add_page(first_id, split(had), had, '', {}, {})
  state.ids = first_id .. string.sub(first, 1, 8)
  redis.call('SET', guard, state.ids)
elseif state.pages == 0 or not is_whole then
  if state.pages == 0 and not (may_begin or has_reopened) then return { 4 } end
  -- Nothing is deleted where nothing is: a script that has written once may go on where the memory is full.
  if redis.call('EXISTS', unpack(KEYS)) > 0 then
    redis.call('DEL', unpack(KEYS, 2))
    redis.call('HDEL', host, 'pages', 'undercount', 'entries', 'remembered', 'missed', unpack(OF_LABELS))
  end
  redis.call('HSET', contents, page_id, contents_id .. joined)
  redis.call('EXPIRE', contents, first_life)
  state.pages, state.labelled, state.changed, state.stable_from = 1, 0, 0, 0
  state.settles_at = settling_pages()
  return reply(1, string.rep(encode(1, 0, 0, false), own), has_reopened and 2 or 0)
end

-- A page is new by its address and by its contents: one page at many addresses would look like template.
local at = place_of(state.ids, page_id, 1)
local has_changed = at and string.sub(state.ids, at + 8, at + 15) ~= contents_id
local before = has_changed and remembered(page_id)
if before then
  take_off(split(before))
  state.ids = string.sub(state.ids, 1, at - 1) .. string.sub(state.ids, at + 16)
  redis.call('HDEL', contents, page_id)
end
local found, is_single = look_up(fields)
-- A main text is an entry of the table like any node: forgotten with the rarest, where the table is full.
local is_same = place_of(state.ids, contents_id, 9) or main_text ~= '' and found[own + 1]
local is_new = state.pages < most_pages and (before or not at) and not is_same

if is_new then
  add_page(page_id, fields, joined, masses, found, is_single)
  -- No more is written than has changed: a whole guard for every page would be most of what replicas get.
  if before then
    redis.call('SETRANGE', guard, at + 7, contents_id)
  else
    redis.call('SETRANGE', guard, #state.ids, page_id .. contents_id)
  end
elseif before then
  redis.call('SET', guard, state.ids)
end
local has_settled = false
if is_new or before or first_id then
  local due, settles_at = state.checked + math.max(MIN_CHECK, CHECK_GROWTH * state.checked), settling_pages()
  if state.checked < settles_at then due = math.min(due, settles_at) end
  local is_due, is_told = state.pages >= due, state.settles_at == settles_at
  state.settles_at = settles_at
  has_settled = is_due and check_labels()
  if not has_settled then
    redis.call('HSET', host, 'pages', state.pages, 'entries', state.entries, 'remembered', state.remembered,
      'undercount', state.undercount, 'missed', state.missed, 'used', now)
    for _, name in ipairs(is_due and OF_LABELS or is_told and {} or { 'settles_at' }) do
      redis.call('HSET', host, name, state[name])
    end
  end
end
keep_alive(state.pages > 1 and ttl or first_life) -- a host lives as long as its pages come, new ones or not

return reply(before and 3 or is_new and 1 or 0, joined_entries(found), has_settled and 1 or 0)
