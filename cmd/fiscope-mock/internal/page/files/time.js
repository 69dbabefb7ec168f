// The server's clock, and how times are written: in Lima, always UTC-5.
import { get } from './server.js'
import { language, t } from './text.js'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

let shown = { now: Date.now(), frozen: false, at: performance.now() }
const listeners = []

export const now = () => shown.now + (shown.frozen ? 0 : performance.now() - shown.at)
export const frozen = () => shown.frozen

export function setClock(clock) {
  shown = { now: Date.parse(clock.now), frozen: clock.frozen, at: performance.now() }
  tick()
}

export const readClock = async () => setClock(await get('clock'))

// onTick is called each second, and whenever the clock was set.
export function onTick(listener) {
  listeners.push(listener)
  listener()
}

// moved says how far the clock is from the machine's, "" for less than half a minute; frozen, it says that.
export function moved() {
  const by = Math.round((now() - Date.now()) / minute) * minute
  if (shown.frozen) return t('frozen')
  if (by === 0) return ''
  const days = Math.round(by / 24 / hour)
  const text = Math.abs(by) < 24 * hour ? remainingText(Math.abs(by)) : t(Math.abs(days) === 1 ? 'days1' : 'days', { n: Math.abs(days) })
  return `${by < 0 ? '−' : '+'}${text}`
}

function tick() {
  for (const listener of listeners) listener()
  for (const element of document.querySelectorAll('[data-until]')) element.textContent = remaining(element.dataset.until)
}
setInterval(tick, second)

export const remaining = (then) => remainingText(Math.max(0, Date.parse(then) - now()))

function remainingText(left) {
  if (left < minute) return `${Math.ceil(left / second)} s`
  const whole = Math.floor(left / minute)
  if (whole < 60) return `${whole} min`
  return `${Math.floor(whole / 60)} h ${String(whole % 60).padStart(2, '0')} min`
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
// momentText is a time, with its day unless that is today.
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
