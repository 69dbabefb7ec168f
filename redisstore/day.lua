-- Each script of the quota begins with this: the day of an account as it is now, and what a header does to it.
-- KEYS: 1 the day, 2 attempts that left while no day was known. ARGV[1] is random, for each call. Times are
-- milliseconds by the clock of Redis. keys.go says what is in each key.
local DAY, OUT = KEYS[1], KEYS[2]
local MINUTE, HOUR = 60000, 3600000
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local function text(n) return string.format('%.0f', n) end

-- What a key says that lives for a while, and false for nothing.
local function says(key, longest)
  local ttl = redis.call('PTTL', key)
  if ttl >= 0 and ttl <= longest then
    local value = redis.pcall('GET', key)
    if type(value) == 'string' then return value end
  end
  redis.call('DEL', key) -- it is not ours
  return false
end

local stored = redis.pcall('HMGET', DAY, 'id', 'kind', 'left', 'reset', 'began', 'taken')
local id, kind = stored[1] or '', stored[2] or ''
local left, reset = tonumber(stored[3] or '') or -1, tonumber(stored[4] or '') or 0
local began, taken = tonumber(stored[5] or '') or 0, tonumber(stored[6] or '') or 0

local function forget()
  id, kind, left = '', '', 0
  redis.call('DEL', DAY)
end

-- The first write of a script needs no memory: then Redis allows the others too when its memory is full.
if left >= 0 and reset > now and reset <= now + 48 * HOUR then
  redis.call('PEXPIREAT', DAY, text(reset))
else
  forget()
end
if redis.call('TYPE', OUT).ok ~= 'zset' then redis.call('DEL', OUT) end

local function number(field) return tonumber(redis.call('HGET', DAY, field) or '') or 0 end

local function keep_day()
  redis.call('HSET', DAY, 'id', id, 'kind', kind, 'left', text(left), 'reset', text(reset), 'taken', text(taken))
  redis.call('PEXPIREAT', DAY, text(reset))
end

local function begin(units, ends, how, since)
  redis.call('DEL', DAY)
  if how ~= 'minute' then redis.call('DEL', OUT) end
  id, kind, left, reset, began, taken = ARGV[1], how, math.max(0, units), ends, since or now, 0
  redis.call('HSET', DAY, 'began', text(began), 'opened', text(left), 'aside', '0')
  keep_day()
end

-- What a header says: of an attempt that was reserved on the day of, '' while none was known, and at that time.
-- ends is 0 where it named no reset. One that went to see left after all that is known, and is believed upwards
-- too, but for the shares that others hold. Returns whether it said anything of the present.
local function head(of, remaining, ends, went_to_see, since)
  if remaining < 0 or of ~= '' and of ~= id or ends ~= 0 and (ends <= now or ends > now + 48 * HOUR) then
    return false
  elseif id == '' or kind == 'minute' and ends > 0 then -- whether that minute was of this day is not known
    begin(remaining - redis.call('ZCARD', OUT), ends > 0 and ends or now + MINUTE, ends > 0 and 'header' or 'minute', since)
  elseif kind == 'header' and ends > reset + HOUR then
    begin(remaining, ends, 'header') -- the next day
  elseif of == '' and ends == 0 or kind == 'header' and ends > 0 and ends < reset - HOUR then
    return false -- of which day is not known, or of another
  else
    if kind == 'assumed' and ends > 0 and remaining < left then -- some were used before: those taken since may not be counted
      remaining = remaining - math.max(0, taken - 1) - number('aside')
    end
    if went_to_see and number('look') > 0 then -- what is put back meanwhile ends it: it may be under way, and not be counted
      left = remaining - number('aside')
    else
      left = math.min(left, remaining)
    end
    left = math.max(0, left)
    if ends > 0 then reset, kind = kind == 'header' and math.max(reset, ends) or ends, 'header' end
    if left > 0 then redis.call('HDEL', DAY, 'look') end
    keep_day()
  end
  return true
end

local function ended(first) -- the attempts that are over, of those that left while no day was known
  for i = first, #ARGV do
    redis.call('ZREM', OUT, ARGV[i])
    if says(KEYS[3], 24 * HOUR) == ARGV[i] then redis.call('DEL', KEYS[3]) end -- its process was not told that it goes first
  end
end

local function reply(status, units, share, probe)
  return {status, units or 0, share or 0, probe or '', id, kind, text(left), text(reset), text(reset - now),
    text(now - began), text(taken)}
end
