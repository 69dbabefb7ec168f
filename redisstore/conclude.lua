-- What came of a credential. KEYS: 1 the credential. ARGV: 1 the token of the claim, 2 the verdict,
-- 3 for how long it is remembered.
local state = redis.pcall('GET', KEYS[1])
if type(state) ~= 'string' then state = '' end
if ARGV[2] == 'none' then
  if state == 'claimed ' .. ARGV[1] then redis.call('DEL', KEYS[1]) end
else
  local life, refused = tonumber(ARGV[3]), string.match(state, '^refused %d+$')
  if refused and ARGV[2] == 'proven' then return 'done' end -- an answer that was under way does not undo a refusal
  if refused then life = math.max(life, redis.call('PTTL', KEYS[1])) end -- nor does a shorter one shorten it
  local time = redis.call('TIME')
  redis.call('DEL', KEYS[1]) -- as in claim.lua
  redis.call('SET', KEYS[1], ARGV[2] .. ' ' .. time[1], 'PX', string.format('%.0f', life))
end
return 'done'
