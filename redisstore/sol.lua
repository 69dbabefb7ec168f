-- What is known of a SOL credential, and who is trying it. KEYS: 1 the verdict, 2 the claim. ARGV: 1 "claim" or a
-- verdict ("none", "proven", "refused", "forget"), 2 the token of the claim, 3 for how long it is held, or the verdict
-- remembered, 4 for how long a proof lets everyone send, in milliseconds. A claim returns its state, and since when and
-- until when the verdict is known (0 for none).
local VERDICT, CLAIM, what, token = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
local life, recent = tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local text = redis.call('GET', VERDICT)
local known = text and cjson.decode(text) or {state = '', since = 0}
local ttl = math.max(0, redis.call('PTTL', VERDICT))
local holder = redis.call('GET', CLAIM)
local mine, refused = holder == token, known.state == 'refused'

local function keep(key, value, ms)
  redis.call('DEL', key) -- after a write that needs no memory, a Redis that is full takes the next
  redis.call('SET', key, value, 'PX', string.format('%.0f', ms))
end

if what == 'claim' then
  local state = 'busy'
  if refused or known.state == 'proven' and math.abs(now - known.since) < recent then
    state = known.state
  elseif not holder or mine then -- the Redis client repeats a question whose answer it lost
    keep(CLAIM, token, life)
    state = 'granted'
  end
  return string.format('%s %.0f %.0f', state, known.since, text and now + ttl or 0)
end

if mine then redis.call('DEL', CLAIM) end
if what == 'refused' then
  keep(VERDICT, cjson.encode({state = what, since = now}), refused and math.max(life, ttl) or life)
elseif what == 'proven' and not refused then -- a proof that comes late undoes no refusal
  keep(VERDICT, cjson.encode({state = what, since = now}), life)
elseif what == 'forget' and refused then
  redis.call('DEL', VERDICT)
end
return 'done'
