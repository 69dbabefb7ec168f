-- May a credential be sent? KEYS: 1 the credential. ARGV: 1 a random token, 2 for how long a claim is held.
-- It returns granted, claimed, or what is known, since how many seconds, and for how many milliseconds more.
local state, what, at = redis.pcall('GET', KEYS[1])
if type(state) == 'string' then what, at = string.match(state, '^(%l+) (%w+)$') end
if what == 'claimed' and at ~= ARGV[1] then return what end
if (what == 'proven' or what == 'refused') and tonumber(at) then
  local age = tonumber(redis.call('TIME')[1]) - tonumber(at)
  return string.format('%s %.0f %.0f', what, age, redis.call('PTTL', KEYS[1]))
end
redis.call('DEL', KEYS[1]) -- what is not ours; and after a write that needs no memory a full Redis takes the next
redis.call('SET', KEYS[1], 'claimed ' .. ARGV[1], 'PX', ARGV[2])
return 'granted'
