-- What is known of an account's day: the rules of internal/daily, step by step. KEYS: 1 the day. Times are
-- milliseconds by the clock of Redis; a reset of 0 is unknown.
local KEY = KEYS[1]
local MINUTE, HOUR = 60000, 3600000
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local text = redis.call('GET', KEY)
local d = text and cjson.decode(text) or {
  reset = 0, left = 0, most = 0, zero = false, doubt = false, pause = 0, sent = 0, served = false, epoch = now, used = 0, done = 0, lower = 0,
}

local function save()
  redis.call('DEL', KEY) -- after a write that needs no memory, a Redis that is full takes the next
  redis.call('SET', KEY, cjson.encode(d), 'PX', 30 * 24 * HOUR)
end

local function begin() d.epoch, d.used, d.done, d.lower = d.epoch + 1, 0, 0, 0 end

local function use(n)
  d.used = d.used + n
  if d.reset > 0 then d.left, d.most = d.left - n, d.most - n end
end

local function rollOver(date)
  if d.reset == 0 then return end
  local over = math.max(now, date) >= d.reset
  if not over and d.reset - now <= 48 * HOUR then return end
  local closed = over and (d.pause > 0 or d.left <= 0 and not d.doubt)
  d.reset, d.left, d.most, d.zero, d.doubt, d.sent, d.pause = 0, 0, 0, false, false, 0, closed and MINUTE or 0
  begin()
end
