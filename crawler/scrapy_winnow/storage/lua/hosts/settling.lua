-- When the labels of a host have stopped changing: they are frozen, and the counts go.
local MIN_DF = 4 -- pages that have to agree on template, as in detector/winnow/counting.py
local TOLERANCE = 0.05 -- share of the template's text that may have changed its label since the last checkpoint

-- Label all nodes and compare with the labels of the last checkpoint. Where nearly all text has kept its label, or
-- `must` says so, the host settles. Returns whether it did. Pages that may have been missed do not count here: a label
-- that is frozen should be right.
local function checkpoint(host, nodes, guard, contents, pages, version, theta, must)
  local all = redis.call('HGETALL', nodes)
  local labels, relabelled = {}, {}
  local either, changed, expected, is_first = 0, 0, 0, redis.call('HEXISTS', host, 'checked') == 0
  for i = 1, #all, 2 do
    local seen, missed, mass, was_template = decode(all[i + 1])
    local is_template = seen >= math.max(theta * pages, MIN_DF)
    if is_template then
      local share = math.max(1, math.floor(255 * seen / pages + 0.5))
      labels[#labels + 1] = all[i] .. string.char(share)
      expected = expected + mass * (share / 255) ^ 2
    end
    if is_template or was_template then
      either = either + seen * mass
    end
    if is_template ~= was_template then
      changed = changed + seen * mass
      relabelled[#relabelled + 1] = all[i]
      relabelled[#relabelled + 1] = encode(seen, missed, mass, is_template)
    end
  end
  if not must and (is_first or expected == 0 or changed > TOLERANCE * either) then
    in_batches('HSET', nodes, relabelled)
    redis.call('HSET', host, 'checked', pages)
    return false
  end
  local joined = table.concat(labels)
  redis.call('DEL', nodes, guard, contents)
  redis.call('HDEL', host, 'checked', 'entries', 'undercount', 'changed', 'remembered')
  redis.call('HSET', host, 'labels', joined, 'stamp', redis.sha1hex(joined .. pages), 'expected', tostring(expected),
    'version', version + 1)
  return true
end
