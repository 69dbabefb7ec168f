-- What is known of a SOL credential. KEYS: 1 the credential. ARGV: 1 "claim" or a verdict ("none", "proven",
-- "refused", "forget"), 2 the token of the claim, 3 for how long it is held, or the verdict remembered, in
-- milliseconds. Returns "granted", or what is known of it, since when and until when.
local KEY, what, token, life = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local text = redis.call('GET', KEY)
local known = text and cjson.decode(text) or {state = '', since = 0}
local ttl = math.max(0, redis.call('PTTL', KEY))
local mine, refused = known.state == 'claimed' and known.token == token, known.state == 'refused'

local function keep(state, ms)
  redis.call('DEL', KEY) -- after a write that needs no memory, a Redis that is full takes the next
  redis.call('SET', KEY, cjson.encode({state = state, since = now, token = state == 'claimed' and token or nil}), 'PX', string.format('%.0f', ms))
end

if what == 'claim' then
  if known.state == '' or mine then -- the Redis client repeats a question whose answer it lost
    keep('claimed', life)
    known.state = 'granted'
  end
elseif what == 'refused' then
  keep('refused', refused and math.max(life, ttl) or life)
elseif what == 'proven' and not refused then -- a proof that comes late undoes no refusal
  keep('proven', life)
elseif mine or what == 'forget' and refused then
  redis.call('DEL', KEY)
end
return string.format('%s %.0f %.0f', known.state, known.since, now + ttl)
