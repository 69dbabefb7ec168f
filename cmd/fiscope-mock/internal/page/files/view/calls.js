// The calls as they come: the newest at the top, filtered, and one of them opened.
import { arrange, button, field, h, select, table, announce } from '../element.js'
import { Calls, failed, subject, underWay } from '../calls.js'
import { follow, remove } from '../server.js'
import { number, t } from '../text.js'
import { callDetail } from '../detail.js'
import { emptyState } from '../empty.js'
import { clockText } from '../time.js'

const step = 300 // rows
const most = 900 // rows in the document
const batch = 100 // milliseconds between changes of the list

export const id = 'llamadas'
export const title = 'calls'

const calls = new Calls()
const rows = new Map() // by the call's number
const filter = { op: '', kind: '', text: '' }
let limit = step
let after = 0 // calls up to this one are not counted
let paused = false
let opened = null // the call that is opened
let top = 0 // the newest call of the list
let waiting // for the next change of the list
const changed = new Set() // calls that came or changed since the last one

const body = h('tbody', { onkeydown: moveFocus })
const summary = h('p', { class: 'summary' })
const pill = button('', showNewest, { class: 'pill', hidden: true })
const more = button('', () => { limit += step; draw() }, { class: 'more', hidden: true })
const tooMany = h('p', { class: 'hint', hidden: true })
const detail = h('section', { class: 'detail', id: 'detail', hidden: true, tabindex: -1, onkeydown: closeByKey })
let search, pause, from, list, empty

export function make({ defaultKey, live }) {
  search = h('input', { type: 'search', autocomplete: 'off', spellcheck: 'false', placeholder: t('filterHint'), oninput: refilter, 'aria-keyshortcuts': '/' })
  pause = button(t('pause'), togglePause, { 'aria-pressed': 'false' })
  from = button(t('countFromHere'), () => countAfter(after ? 0 : calls.last))
  const kinds = ['', 'ok', 'error', '4xx', '5xx', 'none'].map((kind) => [kind, t(`answered_${kind}`)])
  const operations = [['', t('allOperations')], ...['consultar', 'buscar', 'validar', 'tipocambio'].map((op) => [op, op]), ['unmatched', t('unmatched')]]
  const columns = [[t('time'), 'time'], [t('operation'), 'op'], [t('subject'), 'subject'], [t('status'), 'status'], ['ms', 'ms number'],
    [t('cost'), 'cost number'], [t('marks'), 'marks'], [t('key'), 'key']]
  list = h('div', { class: 'list' }, table(t('calls'), columns, body, { class: 'calls' }), more, tooMany)
  empty = emptyState(defaultKey)
  document.addEventListener('keydown', focusFilter)
  window.addEventListener('scroll', () => { if (!held()) draw() }, { passive: true })
  follow({
    live,
    cleared,
    call(call) {
      calls.put(call)
      changed.add(call)
      waiting ??= setTimeout(update, batch)
    },
  })
  const view = h('div', { class: 'calls-view' },
    h('div', { class: 'bar', role: 'search' },
      field(t('filter'), search),
      field(t('operation'), select({ oninput: refilter, 'data-filter': 'op' }, operations)),
      field(t('status'), select({ oninput: refilter, 'data-filter': 'kind' }, kinds)),
      h('div', { class: 'actions' }, pause, from, button(t('clearJournal'), async () => {
        await remove('requests')
        announce(t('journalCleared'))
      }, { class: 'destroys' }))),
    h('div', { class: 'above' }, summary, pill),
    h('div', { class: 'split' }, h('div', {}, list, empty), detail))
  draw()
  return view
}

export const onCalls = new Set() // told when calls came

function cleared(key) {
  calls.clear(key)
  changed.clear()
  if (calls.size === 0) countAfter(0)
  if (opened && !calls.of(opened.n)) close()
  draw()
}

// held reports whether the list stands still: whoever looks at something keeps it before the eyes.
const held = () => paused || opened !== null || window.scrollY > 40

// update brings what came since the last time to the document, at once.
function update() {
  waiting = undefined
  for (const call of changed) {
    const row = rows.get(call.n)
    if (row && row.call !== call) fill(row, call)
    if (opened?.n === call.n) show(call)
  }
  changed.clear()
  if (held() && top > 0) sumUp()
  else draw()
  for (const listener of onCalls) listener()
}

// sumUp says what the calls are together, and how many newer ones there are than the list has.
function sumUp(known) {
  const { sum } = known ?? calls.newest(filter, 0, after)
  const numbers = ['calls', 'spent', 'errors'].map((what) => h('span', { class: what === 'errors' && sum.errors ? 'bad' : null },
    h('b', {}, number(sum[what])), ' ', t(`sum_${what}${sum[what] === 1 ? '1' : ''}`)))
  summary.replaceChildren(...numbers, ...(after ? [h('span', { class: 'hint' }, t('since', { n: after }))] : []),
    ...(calls.dropped ? [h('span', { class: 'hint' }, t('newestOnly'))] : []))
  const newer = held() ? calls.newest(filter, 0, top).sum.calls : 0
  pill.hidden = newer === 0
  pill.textContent = t(newer === 1 ? 'newer1' : 'newer', { n: number(newer) })
  return sum
}

// draw shows the newest calls that the filter takes.
function draw() {
  const found = calls.newest(filter, limit, after)
  top = calls.last
  const sum = sumUp(found)
  const shown = found.shown.map((call) => {
    let row = rows.get(call.n)
    if (!row) {
      row = newRow(call)
      rows.set(call.n, row)
    }
    row.element.classList.toggle('before', call.n === after)
    return row.element
  })
  const wanted = new Set(found.shown.map((call) => call.n))
  for (const n of rows.keys()) if (!wanted.has(n)) rows.delete(n)
  arrange(body, shown)
  const first = body.querySelector('button[tabindex="0"]')
  if (!first) body.querySelector('button')?.setAttribute('tabindex', '0')
  const left = sum.all - shown.length
  more.hidden = left === 0 || limit >= most
  more.textContent = t('showMore', { n: number(Math.min(step, left)), all: number(left) })
  tooMany.hidden = left === 0 || limit < most
  tooMany.textContent = t('tooMany', { n: number(left) })
  empty.hidden = calls.size > 0
  list.hidden = calls.size === 0
}

function newRow(call) {
  const element = h('tr', { onclick: () => toggle(rows.get(call.n).call) })
  const row = { element, call }
  fill(row, call)
  return row
}

// fill writes a call into its row.
function fill(row, call) {
  row.call = call
  const old = row.element.querySelector('button')
  const name = call.op ?? t('unmatched')
  const open = h('button', {
    type: 'button', class: 'open', tabindex: old?.getAttribute('tabindex') ?? -1,
    'aria-expanded': String(opened?.n === call.n), 'aria-controls': 'detail', 'aria-label': `${name} ${subject(call)}, ${statusText(call)}`,
  }, name)
  const focused = old !== null && old === document.activeElement
  row.element.className = `${failed(call) ? 'failed' : ''} ${opened?.n === call.n ? 'opened' : ''}`
  row.element.replaceChildren(
    h('td', { class: 'time' }, h('time', { datetime: call.time, title: call.time }, clockText(call.time))),
    h('td', { class: 'op' }, open),
    h('td', { class: 'subject', title: subject(call) }, subject(call) || (call.op === 'tipocambio' ? t('today') : '')),
    h('td', { class: `status s${Math.floor(call.status / 100)}` }, statusText({ ...call, code: '' }), call.code && h('span', { class: 'answered' }, ` ${call.code}`)),
    h('td', { class: 'ms number' }, milliseconds(call)),
    h('td', { class: 'cost number', 'data-label': t('cost') }, String(call.cost)),
    h('td', { class: 'marks' }, marks(call)),
    h('td', { class: 'key' }, call.key ?? ''))
  if (focused) open.focus()
}

const statusText = (call) => {
  if (underWay(call)) return t('underWay')
  return [call.status || t('noAnswer'), call.code].filter(Boolean).join(' ')
}

const milliseconds = (call) => call.ms?.toFixed(1) ?? ''

// marks are what is odd about a call.
function marks(call) {
  const found = []
  if (call.fault) found.push(['fault', call.fault])
  if (call.replay) found.push(['replay', t('replayOf', { n: call.replay })])
  if (call.sol && call.sol !== 'accepted') found.push(['sol', t(`sol_${call.sol}`)])
  if (!call.matched) found.push(['stray', call.op ? t('noKey') : t('unmatched')])
  return found.map(([kind, text]) => h('span', { class: `mark ${kind}` }, text))
}

function refilter(event) {
  const name = event.target.dataset.filter ?? 'text'
  filter[name] = event.target.value.trim().toLowerCase()
  if (name !== 'text') filter[name] = event.target.value
  limit = step
  draw()
}

function togglePause() {
  paused = !paused
  pause.setAttribute('aria-pressed', String(paused))
  pause.textContent = t(paused ? 'resume' : 'pause')
  if (!held()) draw()
  else sumUp()
}

// countAfter counts the calls after one, or all for 0.
function countAfter(n) {
  after = n
  from.textContent = t(after ? 'countAll' : 'countFromHere')
  draw()
}

function showNewest() {
  limit = step
  window.scrollTo(0, 0)
  draw()
}

function toggle(call) {
  if (opened?.n === call.n) return close(true)
  const before = opened
  opened = call
  for (const n of [before?.n, call.n]) if (rows.has(n)) fill(rows.get(n), rows.get(n).call)
  show(call)
}

function show(call) {
  opened = call
  const inside = detail.contains(document.activeElement) && document.activeElement.dataset.focus
  detail.replaceChildren(...callDetail(call, () => close(true)))
  if (inside) detail.querySelector(`[data-focus="${inside}"]`)?.focus()
  if (!detail.hidden) return
  detail.hidden = false
  detail.parentElement.classList.add('divided')
}

function close(back) {
  if (!opened) return
  const row = rows.get(opened.n)
  opened = null
  detail.hidden = true
  detail.parentElement.classList.remove('divided')
  detail.replaceChildren()
  if (row) {
    fill(row, row.call)
    if (back) row.element.querySelector('button').focus()
  }
  if (!held()) draw()
}

// moveFocus goes through the rows by arrows: only one of them is reached by Tab.
function moveFocus(event) {
  const row = event.target.closest('tr')
  const to = {
    ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling,
    Home: body.firstElementChild, End: body.lastElementChild,
  }[event.key]
  if (!to) return
  event.preventDefault()
  body.querySelector('button[tabindex="0"]')?.setAttribute('tabindex', '-1')
  const next = to.querySelector('button')
  next.setAttribute('tabindex', '0')
  next.focus()
}

function closeByKey(event) {
  if (event.key === 'Escape') close(true)
}

function focusFilter(event) {
  if (event.key === 'Escape' && opened && !document.querySelector('dialog[open]')) close(true)
  if (event.key !== '/' || event.target.closest('input, select, textarea, dialog') || search.closest('[hidden]')) return
  event.preventDefault()
  search.focus()
}
