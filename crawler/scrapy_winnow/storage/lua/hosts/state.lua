-- The state of a host, checked as it is read: keys of another type, numbers that are none, labels of a wrong length and
-- tables that are larger than any of ours are somebody else's. They are deleted, and the host starts anew.
local MOST_NODES = 100000
local LABEL = 9 -- bytes: a fingerprint, and its share of the pages

-- A whole number from 0 on; nil for anything else.
local function whole(value)
  local number = tonumber(value or 0)
  return number and number >= 0 and number < 2 ^ 31 and number % 1 == 0 and number or nil
end

local function is_of_another_type(reply)
  return type(reply) == 'table' and reply.err and string.find(reply.err, 'WRONGTYPE', 1, true) ~= nil
end

-- Read the keys of a host; a table of what is in them, or nil where that cannot be ours.
local function checked_state(host, nodes, guard, contents, budget)
  local values = redis.pcall('HMGET', host, 'stamp', 'pages', 'undercount', 'entries', 'checked', 'version', 'expected',
    'remembered')
  local ids, held, known = redis.pcall('GET', guard), redis.pcall('HLEN', nodes), redis.pcall('HLEN', contents)
  for _, reply in ipairs({ values, ids, held, known }) do
    if is_of_another_type(reply) then
      return nil
    end
  end
  local state = {
    stamp = values[1], pages = whole(values[2]), undercount = whole(values[3]), entries = whole(values[4]),
    checked = whole(values[5]), is_checked = values[5] and true, version = whole(values[6]),
    expected = tonumber(values[7] or 0), remembered = whole(values[8]), ids = ids or '', held = held,
  }
  local most = math.max(budget, MOST_NODES)
  local are_numbers = state.pages and state.undercount and state.entries and state.checked and state.version
  if not (are_numbers and state.remembered) or held > most or known > most then
    return nil
  end
  if state.stamp then
    local size = redis.call('HSTRLEN', host, 'labels')
    local expected = state.expected
    if size % LABEL ~= 0 or size > LABEL * most or not (expected and expected >= 0 and expected < math.huge) then
      return nil
    end
    state.labels = redis.call('HGET', host, 'labels') or ''
  end
  return state
end

-- The state of a host; what cannot be ours is deleted first.
local function read_state(host, nodes, guard, contents, budget)
  local state = checked_state(host, nodes, guard, contents, budget)
  if not state then
    redis.call('DEL', host, nodes, guard, contents)
    state = checked_state(host, nodes, guard, contents, budget)
  end
  return state
end
