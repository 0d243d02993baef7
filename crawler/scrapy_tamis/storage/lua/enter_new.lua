-- Enter a document in the near-duplicate index if none of its keys exists; else only return what they hold.
--
-- KEYS[1]  string, the document; the others: string, its id, by which it is found
-- ARGV     the document; its id; time to live in seconds
-- Returns  {} if it was entered, else the values of the keys in their order
if redis.call('EXISTS', unpack(KEYS)) > 0 then return redis.call('MGET', unpack(KEYS)) end
for i, key in ipairs(KEYS) do redis.call('SET', key, ARGV[i == 1 and 1 or 2], 'EX', ARGV[3]) end
return {}
