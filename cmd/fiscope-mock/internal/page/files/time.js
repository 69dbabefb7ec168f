// The server's clock, and how times are written: in Lima, always UTC-5.
import { get } from './server.js'
import { language, t } from './text.js'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

let told = { now: Date.now(), frozen: false, at: performance.now() }
const listeners = []

export const now = () => told.now + (told.frozen ? 0 : performance.now() - told.at)
export const frozen = () => told.frozen

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

export function remaining(then) {
  const left = Math.max(0, Date.parse(then) - now())
  if (left < minute) return `${Math.ceil(left / second)} s`
  const whole = Math.floor(left / minute)
  if (whole < 60) return `${whole} min`
  if (left < 2 * day) return `${Math.floor(whole / 60)} h ${String(whole % 60).padStart(2, '0')} min`
  return t('days', { n: Math.floor(left / day) })
}

const format = (options) => {
  const written = new Intl.DateTimeFormat(language === 'es' ? 'es-PE' : 'en-GB', { timeZone: 'America/Lima', hourCycle: 'h23', ...options })
  return (ms) => written.format(ms)
}
const minutes = { hour: '2-digit', minute: '2-digit' }
const timeText = format(minutes)
const laterText = format({ day: 'numeric', month: 'short', ...minutes })
export const dayText = format({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' })
export const longDayText = format({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })
export const secondsText = format({ ...minutes, second: '2-digit' })
// momentText is a time, with its day where that is not today.
export const momentText = (then) => {
  const ms = Date.parse(then)
  return limaDate(ms) === limaDate(now()) ? timeText(ms) : laterText(ms)
}

export function clockText(text) {
  const [, time, fraction = ''] = /T([\d:]{8})(?:\.(\d+))?/.exec(text)
  return `${time}.${fraction.slice(0, 3).padEnd(3, '0')}`
}

// limaDate is the date in Lima: "2026-11-20"; limaTime has the time too: "2026-11-20T16:59:00".
export const limaTime = (ms) => new Date(ms - 5 * hour).toISOString().slice(0, 19)
export const limaDate = (ms) => limaTime(ms).slice(0, 10)
