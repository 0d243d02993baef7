-- Take the entries of a batch off the stream, write their verdicts, and acknowledge them: all in one piece.
--
-- KEYS     1 stream of documents; 2 stream of verdicts; 3 the lease; 4 the batch; 5 number of entries decided
-- ARGV     1 token of the caller; 2 group; 3 consumer; 4 about how many verdicts to keep; 5 seconds that they live;
--          6 and 7 the first and the last entry that were never delivered, or nothing; then for each entry its id, and 1
--          before a verdict or 0 for none; a verdict is seven fields: url, host, id, label, original, resemblance, cluster
-- Returns  number of entries acknowledged, or -1 when another worker is in charge
local call = redis.call
local documents, verdicts, decided = KEYS[1], KEYS[2], KEYS[5]
local token, group, consumer, kept, life = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if call('GET', KEYS[3]) ~= token then
  return -1
end
-- What has been cut off the stream meanwhile is not there to be read, and nothing may be read in its place.
local fresh = ARGV[6] ~= '' and #call('XRANGE', documents, ARGV[6], ARGV[7]) or 0
if fresh > 0 then
  call('XREADGROUP', 'GROUP', group, consumer, 'COUNT', fresh, 'STREAMS', documents, '>')
end
local at, done = 8, 0
while at <= #ARGV do
  local entry, has_verdict = ARGV[at], ARGV[at + 1] == '1'
  local was_pending = call('XACK', documents, group, entry) == 1
  if was_pending then
    done = done + 1
  end
  if has_verdict then
    if was_pending then
      call(
        'XADD', verdicts, 'MAXLEN', '~', kept, '*',
        'entry', entry, 'id', ARGV[at + 4], 'url', ARGV[at + 2], 'host', ARGV[at + 3], 'label', ARGV[at + 5],
        'duplicate_of', ARGV[at + 6], 'resemblance', ARGV[at + 7], 'cluster', ARGV[at + 8]
      )
    end
    at = at + 9
  else
    at = at + 2
  end
end
call('INCRBY', decided, done)
call('EXPIRE', decided, life)
call('EXPIRE', verdicts, life)
call('DEL', KEYS[4])
return done
