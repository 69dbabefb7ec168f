-- Tells what came of an attempt.
-- KEYS: 3 the probe, 4 all go on, 5 nobody goes on.
-- ARGV: 2-4 its header (day, remaining, reset), 5 which one it is, of those that left while no day was known,
-- 6 "see" where it went to see, 7 what it means where
-- its header says nothing: none, open, spent, stop; from 8 the attempts that ended.
local of, ends, verdict = ARGV[2], tonumber(ARGV[4]), ARGV[7]
local since = tonumber(redis.call('ZSCORE', OUT, ARGV[5]) or '') or now
local goes_first = ARGV[5] ~= '' and says(KEYS[3], 24 * HOUR) == ARGV[5]
ended(8)
local heard = head(of, tonumber(ARGV[3]), ends, ARGV[6] == 'see', since)
local early = ends > now - MINUTE and ends <= now -- the clock of Redis is ahead: for the service the day is not over
if goes_first then
  if heard or early or verdict ~= 'none' then
    redis.call('DEL', KEYS[3])
    if not heard and not early and verdict == 'open' then redis.call('SET', KEYS[4], '1', 'PX', MINUTE) end
  else -- those who waited for it need not wait for the next
    redis.call('SET', KEYS[3], 'failed ' .. ARGV[5], 'PX', 1000)
  end
end
if not heard and not early and (of == '' or of == id) then
  if verdict == 'stop' or verdict == 'spent' and kind ~= 'header' then
    redis.call('SET', KEYS[5], '1', 'PX', MINUTE)
  end
end
return reply('')
