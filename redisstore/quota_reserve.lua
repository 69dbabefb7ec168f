-- Asks for a query. ARGV: 1 how many are left to others. Returns the grant, what is left (-1: unknown), until when, a
-- token, and whether the account was served before.
local keep = tonumber(ARGV[1])
rollOver(0)
local function known()
  if d.reset == 0 or d.left <= 0 and d.doubt then return -1 end
  return math.max(0, d.left)
end
local left, pause = known(), d.pause
local function reply(grant, left, til, token)
  local served = grant ~= 'spent' and d.served and 'true' or 'false'
  return string.format('%s %.0f %.0f %s %s', grant, left, til, token, served)
end
if d.reset > 0 and keep > 0 and d.left <= keep then return reply('spent', math.max(0, d.left), d.reset, '-') end
if left == 0 and pause == 0 then pause = MINUTE end
local grant, token = 'granted', string.format('%.0f.%.0f', d.epoch, d.done)
if pause > 0 then
  local next = d.sent + pause
  if now < next and now >= d.sent then return reply('spent', left, left == 0 and d.reset or next, '-') end
  grant = 'probe'
end
d.sent = now
use(1)
save()
return reply(grant, known(), 0, token)
