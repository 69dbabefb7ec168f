// The calls as they come: the newest at the top, filtered, and one of them opened.
import { arrange, button, cell, code, field, h, input, select, table } from '../element.js'
import { Calls, failed, subject, underWay } from '../calls.js'
import { callDetail } from '../detail.js'
import { follow, remove } from '../server.js'
import { operations } from '../state.js'
import { number, t } from '../text.js'
import { clockText } from '../time.js'

export const id = 'llamadas'

const step = 200 // rows
const most = 800 // rows in the document
const batch = 100 // milliseconds between changes of the list, or more where the browser is slow

const calls = new Calls()
const rows = new Map() // by the call's number
const filter = { op: '', kind: '', text: '' }
let limit = step
let after = 0 // calls up to this one are not counted
let paused = false
let scrolled = false
let opened = null // the call that is opened
let top = 0 // the newest call when the list was drawn
let waiting // for the next change of the list
let took = 0 // milliseconds of the last one
const changed = new Map() // calls that came or changed since the last one

const body = h('tbody', { onkeydown: moveFocus })
const summary = h('p', { class: 'summary' })
const pill = button('', showNewest, { class: 'pill' })
const more = button('', showMore, { class: 'more' })
const tooMany = h('p', { class: 'hint more' })
const detail = h('section', { class: 'detail', id: 'detail', 'aria-label': t('call'), hidden: true })
const search = input('text', { type: 'search', placeholder: t('filterHint'), oninput: refilter, 'aria-keyshortcuts': '/' })
const pause = button('pause', togglePause, { 'aria-pressed': 'false' })
const from = button('countFromHere', () => countAfter(after ? 0 : calls.last))
const columns = ['time', 'op', 'subject', 'status', 'ms number', 'cost number', 'marks', 'key']
const list = h('div', { class: 'list' }, table('llamadas', columns, body, 'calls'), more, tooMany)
let empty

// make begins to follow the calls; told.live and told.came say that it does, and that some came.
export function make({ defaultKey }, told) {
  const kinds = ['', 'ok', 'error', '4xx', '5xx', 'none'].map((kind) => [kind, t(`answered_${kind}`)])
  empty = h('div', { class: 'empty' }, h('h2', {}, t('noCalls')), h('p', {}, t('firstCall')),
    code(`curl -H "X-API-KEY: ${defaultKey ? 'clave-de-prueba' : '$FISCOPE_API_KEY'}" ${location.origin}/api/contribuyentes/20131312955`, t('asCurl')),
    h('p', { class: 'hint' }, t(defaultKey ? 'baseURL' : 'ownKey')))
  document.addEventListener('keydown', shortcut)
  window.addEventListener('scroll', () => {
    scrolled = window.scrollY > 40
    if (top < calls.last && !held()) draw()
  }, { passive: true })
  follow({
    live: told.live,
    cleared,
    call(call) {
      calls.put(call)
      changed.set(call.n, call)
      waiting ??= setTimeout(() => {
        update()
        told.came()
      }, Math.max(batch, 2 * took))
    },
  })
  draw()
  return [
    h('div', { class: 'bar', role: 'search' }, field('filter', search),
      field('op', select({ name: 'op', oninput: refilter }, [['', t('allOperations')], ...operations, ['unmatched', t('unmatched')]])),
      field('status', select({ name: 'kind', oninput: refilter }, kinds)),
      h('div', { class: 'actions' }, pause, from, button('clearJournal', () => remove('requests'), { class: 'destroys' }))),
    h('div', { class: 'above' }, summary, pill),
    h('div', { class: 'split' }, h('div', {}, list, empty), detail)]
}

function cleared(key) {
  calls.clear(key)
  changed.clear()
  if (calls.size === 0) after = 0
  if (opened && !calls.of(opened.n)) close()
  draw()
}

// held reports whether the list stands still: whoever looks at something keeps it before the eyes.
const held = () => paused || opened !== null || scrolled

// update brings what came since the last time to the document, at once.
function update() {
  waiting = undefined
  const began = performance.now()
  for (const [n, call] of changed) {
    if (rows.has(n)) fill(rows.get(n), call)
    if (opened?.n === n) show(call)
  }
  changed.clear()
  if (held() && top > 0) sumUp(calls.newest(filter, 0, after).sum)
  else draw()
  took = performance.now() - began
}

function draw() {
  const { shown, sum } = calls.newest(filter, limit, after)
  top = calls.last
  const wanted = new Set(shown.map(({ n }) => n))
  for (const n of rows.keys()) if (!wanted.has(n)) rows.delete(n)
  arrange(body, shown.map((call) => {
    if (!rows.has(call.n)) rows.set(call.n, newRow(call))
    const { element } = rows.get(call.n)
    element.classList.toggle('before', call.n === after)
    return element
  }))
  if (!body.querySelector('[tabindex="0"]')) body.querySelector('button')?.setAttribute('tabindex', '0')
  const left = sum.all - shown.length
  more.hidden = left === 0 || limit >= most
  more.textContent = t('showMore', { n: number(Math.min(step, left)), all: number(left) })
  tooMany.hidden = left === 0 || limit < most
  tooMany.textContent = t('tooMany', { n: number(left) })
  list.hidden = calls.size === 0
  empty.hidden = calls.size > 0
  sumUp(sum)
}

function sumUp(sum) {
  const hint = (text) => h('span', { class: 'hint' }, text)
  summary.replaceChildren(...['calls', 'spent', 'errors'].map((what) => h('span', { class: what === 'errors' && sum.errors > 0 && 'bad' },
    h('b', {}, number(sum[what])), ' ', t(`sum_${what}${sum[what] === 1 ? '1' : ''}`))),
  after ? hint(t('since', { n: after })) : '', calls.dropped ? hint(t('newestOnly')) : '')
  from.textContent = t(after ? 'countAll' : 'countFromHere')
  const newer = held() ? calls.newest(filter, 0, top).sum.calls : 0
  pill.hidden = newer === 0
  pill.textContent = t(newer === 1 ? 'newer1' : 'newer', { n: number(newer) })
}

function newRow(call) {
  const row = { element: h('tr', { onclick: () => toggle(row.call) }) }
  fill(row, call)
  return row
}

function fill(row, call) {
  row.call = call
  const old = row.element.querySelector('button')
  const isOpen = opened?.n === call.n
  const name = call.op ?? t('unmatched')
  const asked = subject(call) || (call.op === 'tipocambio' ? t('today') : '')
  const answered = call.status || t(underWay(call) ? 'underWay' : 'noAnswer')
  const open = h('button', {
    type: 'button', tabindex: old?.getAttribute('tabindex') ?? -1, 'aria-expanded': String(isOpen), 'aria-controls': 'detail',
    'aria-label': `${name} ${asked}, ${answered} ${call.code ?? ''}`,
  }, name)
  const focused = old !== null && old === document.activeElement
  row.element.className = `${failed(call) ? 'failed' : ''} ${isOpen ? 'opened' : ''}`
  row.element.replaceChildren(
    cell('time', clockText(call.time)),
    cell('op', open),
    h('td', { class: 'subject', title: asked }, asked),
    cell(`status s${Math.floor(call.status / 100)}`, answered, call.code && h('span', { class: 'answered' }, ` ${call.code}`)),
    cell('ms number', call.ms?.toFixed(1)),
    h('td', { class: 'cost number', 'data-label': t('cost') }, call.cost),
    cell('marks', marks(call)),
    cell('key', call.key))
  if (focused) open.focus()
}

const marks = (call) => [
  call.fault && ['fault', call.fault],
  call.replay && ['replay', t('replayOf', { n: call.replay })],
  call.sol && call.sol !== 'accepted' && ['sol', t(`sol_${call.sol}`)],
  !call.matched && ['stray', t(call.op ? 'noKey' : 'unmatched')],
].filter(Boolean).map(([kind, text]) => h('span', { class: `mark ${kind}` }, text))

function refilter({ target }) {
  filter[target.name] = target.name === 'text' ? target.value.trim().toLowerCase() : target.value
  limit = step
  draw()
}

function togglePause() {
  paused = !paused
  pause.setAttribute('aria-pressed', paused)
  pause.textContent = t(paused ? 'resume' : 'pause')
  update()
}

function countAfter(n) {
  after = n
  draw()
}

function showNewest() {
  limit = step
  window.scrollTo(0, 0)
  scrolled = false
  draw()
}

function showMore() {
  limit += step
  draw()
}

function toggle(call) {
  const before = opened
  if (before?.n === call.n) return close()
  show(call)
  for (const { n } of [before ?? call, call]) if (rows.has(n)) fill(rows.get(n), calls.of(n))
}

function show(call) {
  opened = call
  const at = [...detail.querySelectorAll('button')].indexOf(document.activeElement)
  detail.replaceChildren(...callDetail(call, close))
  if (at >= 0) detail.querySelectorAll('button')[at]?.focus()
  detail.hidden = false
  detail.parentElement.classList.add('divided')
}

function close() {
  const row = rows.get(opened.n)
  opened = null
  detail.hidden = true
  detail.parentElement.classList.remove('divided')
  if (row) {
    fill(row, row.call)
    row.element.querySelector('button').focus()
  }
  update()
}

// moveFocus goes through the rows by arrows: only one of them is reached by Tab.
function moveFocus(event) {
  const row = event.target.closest('tr')
  const to = {
    ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling,
    Home: body.firstElementChild, End: body.lastElementChild,
  }[event.key]?.querySelector('button')
  if (!to) return
  event.preventDefault()
  body.querySelector('[tabindex="0"]')?.setAttribute('tabindex', '-1')
  to.setAttribute('tabindex', '0')
  to.focus()
}

function shortcut(event) {
  if (document.querySelector('dialog') || search.closest('[hidden]')) return
  if (event.key === 'Escape' && opened) close()
  if (event.key !== '/' || event.target.matches('input, select')) return
  event.preventDefault()
  search.focus()
}
