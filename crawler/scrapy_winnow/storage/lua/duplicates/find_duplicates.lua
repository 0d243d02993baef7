-- The verdicts on documents, for those who look them up as they crawl.
--
-- KEYS, ARGV 1 to 12  as in records.lua
-- ARGV 13 on          per document: id, 8 bytes; address; sketch, 6 bytes a shingle; 1 when it has all shingles, or 0
-- Returns             per document: address of the original, resemblance, id that stands for the cluster (each '' where
--                     there is none), number of hot shingles
local verdicts = {}
for at = 13, #ARGV, 4 do
  local document = {id = ARGV[at], url = ARGV[at + 1], sketch = ARGV[at + 2], complete = tonumber(ARGV[at + 3])}
  local verdict = decide(document)
  local about = {verdict.duplicate_of or '', verdict.resemblance or '', verdict.cluster or '', verdict.hot or 0}
  verdicts[#verdicts + 1] = about
end
if writing then
  save()
end
return verdicts
