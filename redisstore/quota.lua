-- The quota of one account, in one step. It is told what the calling process learned since its last
-- call, and asked for queries. See quota_script.go for the arguments, and doc.go for the rules.
--
-- KEYS: 1 the day, 2 its processes, 3 how many attempts of each process ended that left without a count,
-- 4 this call, for what must not happen twice when it is repeated. keys.go says what is in each.
local HOUR = 3600000
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local want, keep, token = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local newsLeft, newsReset = tonumber(ARGV[4]), tonumber(ARGV[5])
local back, extra, ended, acked = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[25])
local probe, verdict = ARGV[9], ARGV[10]
local viewEpoch, viewKind = ARGV[11], ARGV[12]
local viewReset, viewLeft, mine = tonumber(ARGV[13]), tonumber(ARGV[14]), tonumber(ARGV[15])
local shareField, holder, share, held = ARGV[16], ARGV[17], tonumber(ARGV[18]), tonumber(ARGV[19])
local daily, assumed = tonumber(ARGV[20]), tonumber(ARGV[21])
local probeTime, openTime, settleTime = tonumber(ARGV[22]), tonumber(ARGV[23]), tonumber(ARGV[24])
local grantedField, lookTime = ARGV[26], tonumber(ARGV[27])

local stored = redis.call('HMGET', KEYS[1], 'e', 'k', 'l', 'g', 'r', 'c', 's', 'f', 'pt', 'pu', 'o', 'u', 'h', 'lk')
local function text(n) return string.format('%.0f', n) end
local function number(i) return tonumber(stored[i] or '0') or 0 end
local epoch, kind, pt = stored[1] or '', stored[2] or '', stored[9] or ''
local left, granted, reset, opened, aside, frozen = number(3), number(4), number(5), number(6), number(7), number(8)
local pu, out, open, hold, look = number(10), number(11), number(12), number(13), number(14)

local function begin(units, ends, how)
  redis.call('DEL', KEYS[2])
  epoch, kind, left, granted, reset, opened, aside = token, how, math.max(0, units), 0, ends, math.max(0, units), 0
  frozen, pt, pu, out, open, hold, look = 0, '', 0, 0, 0, 0, 0
end

if epoch ~= '' and reset <= now then -- the day is over
  redis.call('DEL', KEYS[1], KEYS[2])
  epoch, kind, left, granted, reset, opened, aside, frozen = '', '', 0, 0, 0, 0, 0, 0
  pt, pu, out, open, hold, look = '', 0, 0, 0, 0, 0
end

-- What the process was told before. Where Redis knows less, it lost its memory, all of it or the last
-- moments: the processes remember it together.
local sameDay = false
if viewEpoch ~= '' and viewReset > now then
  if epoch == '' or (kind == 'h' and viewKind == 'h' and viewReset > reset + HOUR) then
    begin(viewLeft, viewReset, viewKind)
    frozen = now + settleTime
    sameDay = true
  elseif viewReset >= reset - HOUR or viewKind == 'a' or kind ~= 'h' then
    sameDay = true
    if viewEpoch ~= epoch then
      left = math.min(left, math.max(0, viewLeft - granted))
      if kind ~= 'h' and viewKind == 'h' then kind, reset = 'h', viewReset end
    else -- of the same epoch, but a replica took over that had not heard of the last grants
      local lost = mine - tonumber(redis.call('HGET', KEYS[2], grantedField) or '0')
      if lost > 0 then
        left, granted = math.max(0, left - lost), granted + lost
        redis.call('HSET', KEYS[2], grantedField, text(mine))
      end
    end
  end
end

if ended > acked then
  local before = math.max(acked, tonumber(redis.call('HGET', KEYS[3], holder) or '0'))
  out = math.max(0, out - math.max(0, ended - before))
  redis.call('HSET', KEYS[3], holder, text(math.max(ended, before)))
  redis.call('PEXPIRE', KEYS[3], text(10 * math.max(probeTime, openTime)))
end
if sameDay and (back > 0 or share < 0) and redis.call('SET', KEYS[4], '1', 'NX', 'PX', 60000) then
  left = left + back
  if share < 0 then -- the process ends, and gives its share back
    local units = string.match(redis.call('HGET', KEYS[2], shareField) or '', '^' .. holder .. ' (%d+)$')
    if units then
      redis.call('HDEL', KEYS[2], shareField)
      aside = math.max(0, aside - tonumber(units))
    end
  end
end
if epoch ~= '' then left = math.max(0, left - extra) end

-- What a header said.
local verdictOfProbe = probe ~= '' and probe == pt
if newsReset > 0 and newsReset <= now then
  if verdictOfProbe then newsReset = 0 else newsLeft = -1 end
end
if newsLeft >= 0 then
  if epoch == '' and newsReset > 0 then
    begin(newsLeft - out, newsReset, 'h')
  elseif epoch == '' then
    begin(newsLeft - out, now + openTime, 'p')
  elseif verdictOfProbe and kind == 'h' and (newsReset == 0 or math.abs(newsReset - reset) <= HOUR) then
    left, reset = newsLeft, math.max(reset, newsReset) -- it left after all that is known, and went to see
  elseif newsReset == 0 then
    left = math.min(left, newsLeft)
  elseif kind ~= 'h' then
    left, reset, kind, hold = math.min(left, newsLeft), newsReset, 'h', 0
  elseif newsReset > reset + HOUR then
    begin(newsLeft, newsReset, 'h')
  elseif newsReset >= reset - HOUR then -- one that is computed anew for each answer differs a little
    left, reset = math.min(left, newsLeft), math.max(reset, newsReset)
  end
end
if verdictOfProbe then
  pt, pu = '', 0
  if epoch == '' and verdict == 'open' then open = now + openTime end
end
if verdict == 'spent' and kind ~= 'h' then open, hold = 0, now + openTime end

if left > 0 then
  look = 0
elseif kind == 'h' and look == 0 then
  look = now + lookTime
end

-- What it asks for.
local NOTHING, DAY, OPEN, PROBE, SPENT, WAIT, HELD = 0, 1, 2, 3, 4, 5, 6
local status, units, gave, new = NOTHING, 0, 0, 0
if want > 0 then
  if epoch == '' and hold <= now and daily > 0 then begin(daily, assumed, 'a') end
  if frozen > now then
    status = WAIT
  elseif hold > now then
    status = HELD
  elseif epoch ~= '' then
    if kind ~= 'p' and share > 0 then
      local holds = redis.call('HGET', KEYS[2], shareField)
      if held > 0 then -- of a day that Redis forgot: it is not in left
        if not holds then
          redis.call('HSET', KEYS[2], shareField, holder .. ' ' .. held)
          aside = aside + held
        end
      elseif holds then
        gave = tonumber(string.match(holds, '^' .. holder .. ' (%d+)$') or '0')
      else
        gave = math.max(0, math.min(share, math.floor(opened / 4) - aside, left - keep - 1))
        if gave > 0 then
          redis.call('HSET', KEYS[2], shareField, holder .. ' ' .. gave)
          left, granted, aside, new = left - gave, granted + gave, aside + gave, gave
        end
      end
    end
    local free = left - keep
    if free > 0 then -- the last ones one by one, so that nobody sits on them
      units = math.min(want, math.max(1, math.floor(free / 16)))
      left, granted, status = left - units, granted + units, DAY
    elseif kind == 'h' and left <= 0 and look > 0 and look <= now and (pt == '' or pu <= now) then
      if pt == '' then out = out + 1 end -- one of the fleet goes to see whether it is still so
      pt, pu, units, status, look = token, now + probeTime, 1, PROBE, now + lookTime
    else
      status = SPENT
    end
    if (status == DAY and units or 0) + new > 0 then redis.call('HINCRBY', KEYS[2], grantedField, text((status == DAY and units or 0) + new)) end
  elseif open > now then
    out, units, status = out + 1, 1, OPEN
  elseif pt ~= '' and pt ~= token and pu > now then
    status = WAIT
  else
    if pt == '' then out = out + 1 end -- otherwise it takes over from one that died
    pt, pu, units, status = token, now + probeTime, 1, PROBE
  end
end

redis.call('HSET', KEYS[1], 'e', epoch, 'k', kind, 'l', text(left), 'g', text(granted), 'r', text(reset),
  'c', text(opened), 's', text(aside), 'f', text(frozen), 'pt', pt, 'pu', text(pu), 'o', text(out),
  'u', text(open), 'h', text(hold), 'lk', text(look))
if epoch ~= '' then
  redis.call('PEXPIREAT', KEYS[1], text(reset))
  redis.call('PEXPIREAT', KEYS[2], text(reset))
else
  redis.call('PEXPIRE', KEYS[1], text(10 * math.max(probeTime, openTime)))
end
return {status, units, left, text(reset), text(math.max(0, reset - now)), epoch, kind, granted, gave}
