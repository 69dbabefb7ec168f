-- Takes queries of the day for those who wait, and for a lease, of which keep are left to others. Where no day is
-- known, one goes first.
-- KEYS: 3 the probe, 4 all go on, 5 nobody goes on.
-- ARGV: 2-4 a header that goes along (remaining, reset) and the day that this process knows, 5 how many were taken
-- of it when it last heard, 6 how many callers wait, 7 how many to take at most, 8 keep, 9 the daily quota (0: not
-- configured), 10 how long a probe is waited for, 11 the probe that they were told to wait for, 12 the share
-- that it asks for, 13 its field, 14 its holder; from 15 the attempts that ended.
local callers, most, keep = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local daily, patience = tonumber(ARGV[9]), tonumber(ARGV[10])
local share, field, holder = tonumber(ARGV[12]), ARGV[13], ARGV[14]
if id == ARGV[2] and taken < tonumber(ARGV[5]) then forget() end -- as Redis did of what it had told
ended(15)
head(ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]))
if says(KEYS[5], MINUTE) then return reply('held') end

if id == '' and daily > 0 then -- until midnight in Lima, five hours behind UTC all year
  begin(daily, (math.floor((now - 5 * HOUR) / (24 * HOUR)) + 1) * 24 * HOUR + 5 * HOUR, 'assumed')
end

if id == '' then
  local status = 'open'
  if not says(KEYS[4], MINUTE) then
    local probe = says(KEYS[3], patience) or ''
    if probe == 'failed ' .. ARGV[11] then
      return reply('failed')
    elseif probe ~= '' and probe ~= ARGV[1] and string.sub(probe, 1, 7) ~= 'failed ' then -- its own, when its call is repeated
      return reply('wait', 0, 0, probe)
    end
    status = 'probe'
    redis.call('SET', KEYS[3], ARGV[1], 'PX', text(patience))
  end
  redis.call('ZADD', OUT, text(now), ARGV[1])
  redis.call('PEXPIRE', OUT, text(10 * MINUTE))
  return reply(status, 1)
end

local set_aside = 0
if share > 0 and kind ~= 'minute' then
  local mine = redis.call('HGET', DAY, field)
  if mine then -- this process's, when its call is repeated, or another's of the same name
    set_aside = tonumber(string.match(mine, '^' .. holder .. ' (%d+)$') or '') or 0
  else
    local aside = number('aside')
    set_aside = math.max(0, math.min(share, math.floor(number('opened') / 4) - aside, left - keep - 1))
    if set_aside > 0 then
      redis.call('HSET', DAY, field, holder .. ' ' .. text(set_aside), 'aside', text(aside + set_aside))
      left = left - set_aside
    end
  end
end

local free, status, units = left - keep, 'spent', 0
if free > 0 then -- for a lease fewer and fewer, so that nobody sits on the last ones
  units, status = math.min(free, math.max(callers, math.min(most, math.floor(free / 16)))), 'day'
  left, taken = left - units, taken + units
elseif left <= 0 and kind == 'header' then -- now and then one of the fleet goes to see whether it is still so
  local look = number('look')
  if look > 0 and look <= now then units, status = 1, 'look' end
  if look <= now then redis.call('HSET', DAY, 'look', text(now + 15 * MINUTE)) end
end
redis.call('HSET', DAY, 'left', text(left), 'taken', text(taken))
return reply(status, units, set_aside)
