-- What came of a credential. KEYS: 1 the credential. ARGV: 1 the token of the claim, 2 the verdict,
-- 3 for how long it is remembered.
local state = redis.pcall('GET', KEYS[1])
if type(state) ~= 'string' then state = '' end
if ARGV[2] == 'none' then
  if state == 'claimed ' .. ARGV[1] then redis.call('DEL', KEYS[1]) end
elseif not string.match(state, '^refused %d+$') then -- an answer that was under way does not undo a refusal
  local time = redis.call('TIME')
  redis.call('DEL', KEYS[1]) -- as in claim.lua
  redis.call('SET', KEYS[1], ARGV[2] .. ' ' .. time[1], 'PX', ARGV[3])
end
return 'done'
