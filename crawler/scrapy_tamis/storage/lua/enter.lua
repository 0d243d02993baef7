-- Enter a document in the near-duplicate index if its keys hold what the caller thinks; else only return what they hold.
--
-- KEYS     strings: what it is looked up by, the first its home, the second (but of a short text) its alias
-- ARGV     what its home is to hold; what its alias is to hold; time to live in seconds; then what each key was seen to
--          hold, '' for nothing. Without that the keys have to be free or its own: a home ends with 4 bytes for the time
-- Returns  {} if it was entered, or entered again with the same text; else the values of the keys in their order
local home, alias, ttl = unpack(ARGV)
local values = redis.call('MGET', unpack(KEYS))
for i, value in ipairs(values) do -- false where there is none
  local is_own = i == 1 and value and string.sub(value, 1, -5) == string.sub(home, 1, -5) or i == 2 and value == alias
  local seen = ARGV[3 + i]
  if seen and (value or '') ~= seen or not seen and value and not is_own then return values end
end
redis.call('SET', KEYS[1], home, 'EX', ttl)
if KEYS[2] then redis.call('SET', KEYS[2], alias, 'EX', ttl) end
return {}
