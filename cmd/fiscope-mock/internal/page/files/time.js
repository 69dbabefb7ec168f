// The server's clock, and how times are written: in Lima, which has no other offset than UTC-5.
import { get } from './server.js'
import { language, t } from './text.js'

export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

let told = { now: Date.now(), frozen: false, at: performance.now() }
const listeners = []

// now is the server's time in milliseconds, as far as the page knows it.
export const now = () => told.now + (told.frozen ? 0 : performance.now() - told.at)
export const frozen = () => told.frozen

// setClock takes the server's answer to GET or PUT clock.
export function setClock(clock) {
  told = { now: Date.parse(clock.now), frozen: clock.frozen, at: performance.now() }
  tick()
}

export const readClock = async () => setClock(await get('clock'))

// onTick is called each second, and whenever the clock was set.
export function onTick(listener) {
  listeners.push(listener)
  listener()
}

function tick() {
  for (const listener of listeners) listener()
  for (const element of document.querySelectorAll('[data-until]')) element.textContent = remaining(element.dataset.until)
}
setInterval(tick, second)

// remaining is the time until then, by the server's clock: "7 h 01 min".
export function remaining(then) {
  const left = Math.max(0, Date.parse(then) - now())
  if (left < minute) return `${Math.ceil(left / second)} s`
  const minutes = Math.floor(left / minute)
  if (minutes < 60) return `${minutes} min`
  if (left < 2 * day) return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`
  return t('days', { n: Math.floor(left / day) })
}

const format = (options) => new Intl.DateTimeFormat(language === 'es' ? 'es-PE' : 'en-GB', { timeZone: 'America/Lima', hourCycle: 'h23', ...options })
const formats = {
  day: format({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' }),
  time: format({ hour: '2-digit', minute: '2-digit' }),
  seconds: format({ hour: '2-digit', minute: '2-digit', second: '2-digit' }),
  moment: format({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }),
  long: format({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' }),
}
export const dayText = (ms) => formats.day.format(ms)
export const longDayText = (ms) => formats.long.format(ms)
export const timeText = (ms) => formats.time.format(ms)
export const secondsText = (ms) => formats.seconds.format(ms)
// momentText is a time, with its day where that is not today.
export const momentText = (then) => {
  const ms = Date.parse(then)
  return limaDate(ms) === limaDate(now()) ? timeText(ms) : formats.moment.format(ms)
}

// clockText is the time of the day in a text of the server, to the millisecond.
export function clockText(text) {
  const [, time, fraction = ''] = /T([\d:]{8})(?:\.(\d+))?/.exec(text)
  return `${time}.${fraction.slice(0, 3).padEnd(3, '0')}`
}

// limaDate is the date in Lima: "2026-11-20"; limaTime has the time too: "2026-11-20T16:59:00".
export const limaTime = (ms) => new Date(ms - 5 * hour).toISOString().slice(0, 19)
export const limaDate = (ms) => limaTime(ms).slice(0, 10)
