-- Enter a document in the near-duplicate index if none of its keys is another's; else only return what they hold.
--
-- KEYS     strings: what it is looked up by, the first its home, the second (but of a short text) its alias
-- ARGV     what its home holds, which ends with 4 bytes for the time; what its alias holds; time to live in seconds
-- Returns  {} if it was entered, or entered again with the same text; else the values of the keys in their order
local home, alias, ttl = unpack(ARGV)
local values = redis.call('MGET', unpack(KEYS))
for i, value in ipairs(values) do -- false where there is none
  local is_own = i == 1 and value and string.sub(value, 1, -5) == string.sub(home, 1, -5) or i == 2 and value == alias
  if value and not is_own then return values end
end
redis.call('SET', KEYS[1], home, 'EX', ttl)
if KEYS[2] then redis.call('SET', KEYS[2], alias, 'EX', ttl) end
return {}
