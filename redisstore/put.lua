-- Puts queries back that were not sent, or takes off what left beyond what was reserved; once for each call,
-- however often it is repeated.
-- KEYS: 3 this call. ARGV: 2 the day, 3 how many, 4 the field of a share that is given back, 5 its holder, 6 how
-- many of it were used. A share is given back once, whoever asks.
if id == ARGV[2] and redis.call('SET', KEYS[3], '1', 'NX', 'PX', MINUTE) then
  local units = ARGV[4] ~= '' and string.match(redis.call('HGET', DAY, ARGV[4]) or '', '^' .. ARGV[5] .. ' (%d+)$')
  left = math.max(0, left + tonumber(ARGV[3]) + (units and units - tonumber(ARGV[6]) or 0))
  if left > 0 then redis.call('HDEL', DAY, 'look') end
  if units then
    redis.call('HDEL', DAY, ARGV[4])
    redis.call('HINCRBY', DAY, 'aside', '-' .. units)
  end
  keep_day()
end
return reply('')
