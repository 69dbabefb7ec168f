// The page: who may see it, its header, and its views by the part of the address after #.
import { announcements, button, field, form, h, secret } from './element.js'
import { get, post } from './server.js'
import { readPresets } from './preset.js'
import { readState, state } from './state.js'
import { language, t } from './text.js'
import { dayText, moved, now, onTick, readClock, secondsText } from './time.js'
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
const time = h('a', { href: '#reloj', class: 'time', hidden: true })
const clockBack = button('clockBack', () => post('reset', { parts: ['clock'] }), { class: 'back', title: t('resetClock'), hidden: true })
const notices = h('p')
const keys = h('div', { id: 'teclas', popover: true, role: 'dialog', 'aria-label': t('keys') }, h('h2', {}, t('keys')),
  t('keyList').split('; ').map((line) => line.split(': ')).map(([key, does]) => h('p', {}, h('span', {}, h('kbd', {}, key)), does)))
const main = h('main', { id: 'contenido', onblur() { main.removeAttribute('tabindex') } })
const nav = h('nav', { 'aria-label': t('views') }, h('ul', {}, views.map((view) => h('li', {}, h('a', { href: `#${view.id}` }, t(view.id))))))
const sections = new Map()
let shown
let soonTimer
let connected = true
let reading = false
let again = false

document.documentElement.lang = language
window.addEventListener('token', askToken)
document.addEventListener('keydown', ({ key, target }) => { if (key === '?' && !target.closest('input, select, dialog')) keys.togglePopover() })
document.body.replaceChildren(
  h('header', { class: 'top' }, h('a', { href: '#contenido', class: 'skip', onclick: skip }, t('skip')), h('h1', {}, 'fiscope-mock'), time, clockBack, notices, live, h('button', { type: 'button', class: 'keys', popovertarget: keys.id, title: t('keys'), 'aria-label': t('keys'), 'aria-keyshortcuts': '?' }, '?')), nav, main, keys, announcements)
start()

// skip makes the contents focusable only now: a click on them would focus them too.
function skip(event) {
  event.preventDefault()
  main.tabIndex = -1
  main.focus()
}

async function start() {
  let session
  try {
    session = await get('session')
  } catch {
    setLive(false)
    setTimeout(start, 1000)
    return
  }
  if (session.closed) return explain('closed')
  if (session.token) return askToken()
  await Promise.all([readClock(), readPresets()]).catch(() => {})
  time.hidden = false
  onTick(() => {
    time.replaceChildren(h('span', { class: 'date' }, `${dayText(now())} `), h('b', {}, secondsText(now())), ' ', moved() ? h('span', { class: 'mark fault' }, moved()) : '')
    clockBack.hidden = !moved()
  })
  for (const view of views) {
    const heading = h('h2', { id: `title-${view.id}` }, t(view.id))
    sections.set(view, h('section', { class: 'view', 'aria-labelledby': heading.id, hidden: true }, heading))
  }
  main.append(...sections.values())
  fill(calls, session, { live: setLive, came: () => { soonTimer ??= setTimeout(read, 500) } }) // they are followed, seen or not
  window.addEventListener('hashchange', go)
  window.addEventListener('changed', read)
  setInterval(() => { if (connected && !document.hidden) read() }, readEvery)
  go()
}

const fill = (view, ...rest) => sections.get(view).append(h('div', {}, view.make(...rest)))

function explain(key, ...more) {
  nav.hidden = true
  main.replaceChildren(h('section', { class: 'card wide gate' }, h('h2', {}, t(`${key}Title`)), h('p', {}, t(key)), more))
}

function askToken() {
  if (document.querySelector('.gate')) return
  explain('token', form('tokenTitle', async (values) => {
    await post('session', values)
    location.reload()
  }, 'enter', field('Token', secret('token', { required: true, autocomplete: 'off' }))))
}

// go shows the view of the address: #view/what?how.
function go() {
  const [, name, what, how] = /^#([^/?]*)\/?([^?]*)\??(.*)/.exec(location.hash) ?? ['', '', '', '']
  const before = shown
  shown = views.find(({ id }) => id === name) ?? calls
  if (sections.get(shown).children.length === 1) fill(shown)
  shown.route?.(what, new URLSearchParams(how))
  if (shown === before) return
  for (const [view, section] of sections) section.hidden = view !== shown
  for (const link of nav.querySelectorAll('a')) {
    if (link.hash === `#${shown.id}`) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
  nav.querySelector('[aria-current]').scrollIntoView({ block: 'nearest', inline: 'nearest' })
  document.title = `${t(shown.id)} · fiscope-mock`
  window.scrollTo(0, 0)
  read()
}

async function read() {
  soonTimer = undefined
  again = reading
  if (reading) return
  reading = true
  try {
    await Promise.all([readClock(), readState()])
    await shown.refresh?.()
    const active = state.faults.filter((fault) => fault.active).length
    const notice = (text) => h('a', { href: '#fallas', class: 'mark fault' }, text)
    const texts = [state.down && t('sunatDown'), active && t(active === 1 ? 'activeFault1' : 'activeFaultsN', { n: active })].filter(Boolean)
    if (notices.textContent !== texts.join('')) notices.replaceChildren(...texts.map(notice)) // or it would lose the focus
  } catch { // the server is gone: the stream says so, and tries again
  }
  reading = false
  if (again) read()
}

function setLive(is) {
  connected = is
  const text = t(connected ? 'live' : 'offline')
  if (live.textContent !== text) live.textContent = text
  live.classList.toggle('offline', !connected)
  if (connected) read()
}
