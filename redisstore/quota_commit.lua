-- Records what came of an attempt. ARGV: 1 its token, 2 "probe" or "granted", 3 queries written, 4 "served",
-- "refused" or "", 5 what its header says is left (below 0: nothing), 6 the header's reset, 7 the answer's date.
local probe, written, answer = ARGV[2] == 'probe', tonumber(ARGV[3]), ARGV[4]
local remaining, reset, date = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
rollOver(date)
local epoch, done = string.match(ARGV[1], '^(%d+)%.(%d+)$')
local current = tonumber(epoch) == d.epoch
done = current and tonumber(done) or 0
if current then
  use(written - 1)
  d.done = d.done + written
end
if written == 0 then
  if probe then d.sent = 0 end
  save()
  return 'done'
end

d.served = d.served or answer == 'served'
local over, before = reset > 0 and reset <= math.max(now, date), d.reset
if remaining >= 0 and not over then
  local known = d.reset > 0
  local least = remaining - (d.used - done) + (current and written or 0)
  if reset - now > 48 * HOUR then reset = 0 end
  if not known and reset > 0 then
    d.reset, d.left, d.most, d.lower = reset, least, remaining, d.done
  elseif known and (reset == 0 or math.abs(reset - d.reset) <= HOUR) then
    if remaining < d.most then
      d.most, d.lower = remaining, d.done
    elseif current and done >= d.lower then
      d.most = math.max(d.most, least)
    end
    if current then d.left = math.max(d.left, least) end
    d.left = math.min(d.left, d.most)
  elseif known and current then -- another day
    d.reset, d.left, d.most, d.zero, d.doubt, d.pause = reset, least, remaining, false, false, 0
    begin()
  end
  d.zero = d.zero or remaining == 0
end

if answer == 'refused' and current then
  d.pause = (over or d.pause == MINUTE) and MINUTE or 15 * MINUTE
elseif answer == 'served' and probe then
  d.pause, d.doubt = 0, before > 0 and math.abs(d.reset - before) <= HOUR and (d.zero or d.left <= 0) -- the header was wrong
  begin()
end
save()
return 'done'
