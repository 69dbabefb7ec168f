// The page: who may see it, its header, and its views by the part of the address after #.
import { announcements, field, form, h, secret } from './element.js'
import { get, post } from './server.js'
import { readState, state } from './state.js'
import { language, t } from './text.js'
import { dayText, frozen, now, onTick, readClock, secondsText } from './time.js'
import * as calls from './view/calls.js'
import * as quotas from './view/quotas.js'
import * as clock from './view/clock.js'
import * as faults from './view/faults.js'
import * as assumptions from './view/assumptions.js'
import * as sol from './view/sol.js'
import * as contribuyentes from './view/contribuyentes.js'
import * as comprobantes from './view/comprobantes.js'
import * as tiposcambio from './view/tiposcambio.js'
import * as data from './view/data.js'

const views = [calls, quotas, clock, faults, assumptions, sol, contribuyentes, comprobantes, tiposcambio, data]
const readEvery = 3000 // milliseconds

const live = h('p', { class: 'live', role: 'status' })
const time = h('a', { href: '#reloj', class: 'time' })
const notices = h('p', { class: 'notices' })
const main = h('main', { id: 'contenido', tabindex: -1 })
const nav = h('nav', { 'aria-label': t('views') }, h('ul', {}, views.map((view) => h('li', {}, h('a', { href: `#${view.id}` }, t(view.title))))))
const sections = new Map()
let shown
let settings
let reading = false

document.documentElement.lang = language
window.addEventListener('token', askToken)

async function start() {
  document.body.replaceChildren(
    h('a', { href: '#contenido', class: 'skip', onclick(event) { event.preventDefault(); main.focus() } }, t('skip')),
    h('header', { class: 'top' }, h('h1', {}, 'fiscope-mock'), time, notices, live), nav, main, announcements)
  try {
    settings = await get('session')
  } catch {
    setLive(false)
    setTimeout(start, 1000)
    return
  }
  if (settings.closed) return explain('closed')
  if (settings.token) return askToken()
  await begin()
}

// explain shows why there is nothing to see.
function explain(key, ...more) {
  nav.hidden = true
  main.replaceChildren(h('section', { class: 'card wide gate' }, h('h2', {}, t(`${key}Title`)), h('p', {}, t(key)), more))
}

function askToken() {
  if (document.querySelector('.gate')) return
  explain('token', form(t('tokenTitle'), async ({ token }) => {
    await post('session', { token })
    location.reload()
  }, t('enter'), field(t('adminToken'), secret('token', { required: true, autocomplete: 'off' }))))
  main.querySelector('input').focus()
}

async function begin() {
  await readClock().catch(() => {})
  onTick(() => {
    time.replaceChildren(h('span', {}, dayText(now())), ' ', h('b', {}, secondsText(now())), frozen() ? h('span', { class: 'mark' }, t('frozen')) : '')
    time.setAttribute('aria-label', `${t('serverTime')}: ${dayText(now())}, ${secondsText(now())}${frozen() ? `, ${t('frozen')}` : ''}`)
  })
  settings.live = setLive
  for (const view of views) {
    const heading = h('h2', { id: `title-${view.id}` }, t(view.title))
    const section = h('section', { class: 'view', 'aria-labelledby': heading.id, hidden: true }, heading)
    sections.set(view, section)
    main.append(section)
  }
  sections.get(calls).append(calls.make(settings)) // it follows the calls, seen or not
  calls.onCalls.add(soon)
  window.addEventListener('hashchange', go)
  setInterval(() => { if (!document.hidden) read() }, readEvery)
  go()
}

// go shows the view that the address names.
function go() {
  shown = views.find((view) => `#${view.id}` === location.hash) ?? calls
  for (const [view, section] of sections) section.hidden = view !== shown
  for (const link of nav.querySelectorAll('a')) {
    if (link.hash === `#${shown.id}`) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
  const section = sections.get(shown)
  if (section.children.length === 1) section.append(shown.make(settings))
  document.title = `${t(shown.title)} · fiscope-mock`
  window.scrollTo(0, 0)
  read()
}

let soonTimer
function soon() {
  soonTimer ??= setTimeout(() => {
    soonTimer = undefined
    read()
  }, 500)
}

// read brings the header and the view to what the server says now.
async function read() {
  if (reading) return
  reading = true
  try {
    await Promise.all([readClock(), readState(), shown.refresh?.()])
    const active = state.faults.filter((fault) => fault.active).length
    notices.replaceChildren(
      state.down ? h('a', { href: '#fallas', class: 'mark fault' }, t('sunatDown')) : '',
      active ? h('a', { href: '#fallas', class: 'mark fault' }, t(active === 1 ? 'activeFault1' : 'activeFaultsN', { n: active })) : '')
  } catch { // it is gone: the stream says so, and tries again
  } finally {
    reading = false
  }
}

function setLive(connected) {
  const text = t(connected ? 'live' : 'offline')
  if (live.textContent !== text) live.textContent = text
  live.classList.toggle('offline', !connected)
  if (connected) read()
}

start()
