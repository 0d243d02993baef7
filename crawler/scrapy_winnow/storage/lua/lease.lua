-- Take, keep or leave the lease of the process in charge.
--
-- KEYS[1]  string with expiry: token of the process in charge
-- KEYS[2]  number: how many leases have been taken
-- ARGV     'take', 'keep' or 'leave'; the token, or for 'take' what makes it unique; milliseconds to live
-- Returns  the token of the caller if it is in charge, else ''; '' for 'leave'
local lease, fence = KEYS[1], KEYS[2]
local what, token, life = ARGV[1], ARGV[2], ARGV[3]

if what == 'take' then
  if redis.call('EXISTS', lease) == 1 then
    return ''
  end
  token = redis.call('INCR', fence) .. '-' .. token
  redis.call('SET', lease, token, 'PX', life)
  return token
end
if redis.call('GET', lease) ~= token then
  return ''
end
if what == 'leave' then
  redis.call('DEL', lease)
  return ''
end
redis.call('PEXPIRE', lease, life)
return token
