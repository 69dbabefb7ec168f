-- May a credential be sent? KEYS: 1 the credential. ARGV: 1 a random token, 2 for how long a claim is held.
local state = redis.call('GET', KEYS[1])
if state and state ~= 'claimed ' .. ARGV[1] then return state .. ' ' .. redis.call('PTTL', KEYS[1]) end
redis.call('SET', KEYS[1], 'claimed ' .. ARGV[1], 'PX', ARGV[2])
return 'granted'
