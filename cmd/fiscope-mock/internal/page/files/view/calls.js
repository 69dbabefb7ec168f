// The calls as they come: the newest at the top, filtered, and one of them opened: as the address says.
import { arrange, button, cell, code, copy, field, h, input, save, select, table } from '../element.js'
import { answeredByService, Calls, failed, firstOf, spoilt, subject } from '../calls.js'
import { callDetail } from '../detail.js'
import { follow, get, remove } from '../server.js'
import { curl, curlOf } from '../snippet.js'
import { operations } from '../state.js'
import { lastedText, number, t } from '../text.js'
import { clockText, dayText } from '../time.js'
import { attemptText, meanings, statusText } from '../why.js'

export const id = 'llamadas'

const step = 200 // rows
const most = 800 // rows in the document
const batch = 100 // milliseconds between changes of the list, or more if the browser is slow

const calls = new Calls()
const rows = new Map() // by the call's number
let limit = step
let after = 0 // calls up to this one are not counted
let paused = false
let scrolled = false
let opened = 0 // the number of the call that is opened
let top = 0 // the newest call when the list was drawn
let waiting // for the next change of the list
let took = 0 // milliseconds of the last one
const changed = new Map() // calls that came or changed since the last one

const body = h('tbody')
const summary = h('p', { class: 'summary' })
const pill = button('', showNewest, { class: 'pill' })
const more = button('', () => {
  limit += step
  draw()
}, { class: 'more' })
const tooMany = h('p', { class: 'hint more' })
const detail = h('section', { class: 'detail', id: 'detail', 'aria-label': t('call'), hidden: true })
const kinds = ['', 'ok', 'error', 'cost', '4xx', '5xx', 'none'].map((kind) => [kind, t(`answered_${kind}`) || kind])
const controls = { // by their names in an address
  texto: input('texto', { type: 'search', placeholder: t('filterHint'), oninput: refilter }),
  consulta: input('consulta', { type: 'search', placeholder: t('askedHint'), oninput: refilter }),
  op: select({ name: 'op', oninput: refilter }, [['', t('answered_')], ...operations, ['unmatched', t('unmatched')]]),
  respuesta: select({ name: 'respuesta', oninput: refilter }, kinds),
}
const pause = button('pause', togglePause, { 'aria-pressed': 'false' })
const from = button('countFromHere', () => {
  after = after ? 0 : calls.last
  draw()
})
const columns = ['time', 'op', 'subject', 'status', 'lasted number', 'cost number', 'marks', 'key', 'copy']
const list = h('div', { class: 'list' }, table('llamadas', columns, body, 'calls'), more, tooMany)
const nothing = h('h2', {}, t('noCalls'))
const noMatch = h('div', { class: 'empty', hidden: true }, h('h2', {}, t('noMatch')), h('p', {}, h('a', { href: `#${id}` }, t('showAll'))))
const controlBar = h('div', { class: 'bar folded', role: 'search' }, field('filter', controls.texto),
  h('button', { type: 'button', class: 'unfold', 'aria-expanded': 'false', onclick() { this.setAttribute('aria-expanded', !controlBar.classList.toggle('folded')) } }, t('more')),
  field('subject', controls.consulta), field('op', controls.op), field('answer', controls.respuesta),
  h('div', { class: 'actions' }, pause, from, button('clearJournal', () => remove('requests'), { class: 'destroys' })))
let empty

const wordsIn = ({ value }) => value.trim().toLowerCase()
const filter = () => ({ op: controls.op.value, kind: controls.respuesta.value, asked: wordsIn(controls.consulta), text: wordsIn(controls.texto) })

// address is that of a call, or of none, with the filter, of which other is said elsewhere.
function address(n, other) {
  const given = Object.entries({ ...Object.fromEntries(Object.entries(controls).map(([name, { value }]) => [name, value])), ...other })
  const query = new URLSearchParams(given.filter(([, value]) => value))
  return `#${id}${n ? `/${n}` : ''}${query.size ? `?${query}` : ''}`
}

// route shows what an address says: the filter, and the number of the call that is opened.
export function route(n, query) {
  for (const [name, control] of Object.entries(controls)) {
    if (control.value !== query.get(name)) control.value = query.get(name) ?? ''
    if (control.selectedIndex === -1) control.selectedIndex = 0
  }
  open(Number(n) || 0)
  draw()
}

// make begins to follow the calls; notify.live and notify.came say that it does, and that some came.
export function make({ defaultKey }, notify) {
  empty = h('div', { class: 'empty' }, nothing, h('p', {}, t('firstCall')),
    code(`${curlOf(location.origin)} -H "X-API-KEY: ${defaultKey ? 'clave-de-prueba' : '$FISCOPE_API_KEY'}" ${location.origin}/api/contribuyentes/20131312955`, t('asCurl')),
    h('p', { class: 'hint' }, t(defaultKey ? 'baseURL' : 'ownKey')))
  document.addEventListener('keydown', onKey)
  window.addEventListener('scroll', () => {
    scrolled = window.scrollY > 40
    fit()
    if (top < calls.last && !held()) draw()
  }, { passive: true })
  window.addEventListener('resize', fit)
  follow({
    live: notify.live,
    cleared,
    call(call) {
      calls.put(call)
      changed.set(call.n, call)
      waiting ??= setTimeout(() => {
        update()
        notify.came()
      }, Math.max(batch, 2 * took))
    },
  })
  draw()
  return [controlBar,
    h('div', { class: 'above' }, summary, pill, h('div', { class: 'actions' }, button('exportHAR', exportHAR), button('exportJSON', () => saveJSON('llamadas.json', { requests: listed() })))),
    h('div', { class: 'split' }, h('div', {}, list, noMatch, empty), detail)]
}

// refresh says why there are no calls if the journal has no room.
export async function refresh() {
  if (calls.size > 0) return
  const { requests, dropped } = await get('requests?limit=1')
  nothing.textContent = t(requests.length === 0 && dropped > 0 ? 'notKept' : 'noCalls')
}

function cleared(key) {
  calls.clear(key)
  changed.clear()
  if (calls.size === 0) after = top = 0
  if (opened && !calls.of(opened)) close()
  draw()
}

// held reports whether the list stands still, so that what somebody reads does not move.
const held = () => paused || (scrolled && top > 0)

// update brings what came since the last time to the document, at once.
function update() {
  waiting = undefined
  const began = performance.now()
  const shown = calls.of(opened)
  for (const [n, call] of changed) {
    if (rows.has(n)) fill(rows.get(n), call)
    if (opened === n || shown && firstOf(shown) === firstOf(call)) show()
  }
  changed.clear()
  if (held()) sumUp(calls.newest(filter(), 0, after).sum)
  else draw()
  took = performance.now() - began
}

function draw() {
  if (!paused) top = calls.last
  const { shown, sum } = calls.newest(filter(), limit, after, top)
  const wanted = new Set(shown.map(({ n }) => n))
  for (const n of rows.keys()) if (!wanted.has(n)) rows.delete(n)
  const severalDays = shown.some((call) => dayOf(call) !== dayOf(shown[0]))
  arrange(body, shown.flatMap((call, i) => {
    if (!rows.has(call.n)) rows.set(call.n, newRow(call))
    const { element } = rows.get(call.n)
    const [follows, leads] = [shown[i - 1], shown[i + 1]].map((other) => other !== undefined && firstOf(other) === firstOf(call))
    for (const [name, is] of Object.entries({ before: call.n === after, follows, linked: follows || leads })) element.classList.toggle(name, is)
    const parted = i > 0 ? dayOf(call) !== dayOf(shown[i - 1]) : severalDays
    return parted ? [h('tr', { class: 'day' }, h('td', { colspan: columns.length }, dayText(Date.parse(call.time)))), element] : [element]
  }))
  if (!body.querySelector('[tabindex="0"]')) body.querySelector('button')?.setAttribute('tabindex', '0')
  list.style.setProperty('--digits', String(calls.last).length)
  const left = sum.all - shown.length
  more.hidden = left === 0 || limit >= most
  more.textContent = t('showMore', { n: number(Math.min(step, left)), all: number(left) })
  tooMany.hidden = left === 0 || limit < most
  tooMany.textContent = t('tooMany', { n: number(left) })
  sumUp(sum)
}

const dayOf = (call) => call.time.slice(0, 10)

function sumUp(sum) {
  empty.hidden = calls.size > 0
  noMatch.hidden = calls.size === 0 || body.childElementCount > 0
  list.hidden = body.childElementCount === 0
  const hint = (text) => h('span', { class: 'hint' }, text)
  const spent = Object.entries(sum.by).sort((a, b) => b[1] - a[1]).map(([op, n]) => `${op} ${number(n)}`)
  const leads = { calls: '', spent: 'cost', errors: 'error' }
  summary.replaceChildren(...Object.keys(leads).map((what) => h('a', { href: address(opened, { respuesta: leads[what] }), class: what === 'errors' && sum.errors > 0 && 'bad' },
    h('b', {}, number(sum[what])), ' ', t(`sum_${what}${sum[what] === 1 ? '1' : ''}`))),
  spent.length ? hint(`${t('spentBy')} ${spent.join(', ')}`) : '', after ? hint(t('since', { n: after })) : '', calls.dropped ? hint(t('newestOnly')) : '')
  from.textContent = t(after ? 'countAll' : 'countFromHere')
  const newer = held() ? calls.newest(filter(), 0, top).sum.calls : 0
  pill.hidden = newer === 0
  pill.textContent = t(newer === 1 ? 'newer1' : 'newer', { n: number(newer) })
}

function newRow(call) {
  const row = { element: h('tr', { 'data-n': call.n, onclick: () => { location.hash = address(opened === call.n ? 0 : call.n) } }) }
  fill(row, call)
  return row
}

function fill(row, call) {
  row.call = call
  const old = row.element.querySelector('button')
  const isOpen = opened === call.n
  const name = call.op ?? t('unmatched')
  const asked = subject(call) || (call.op === 'tipocambio' ? t('today') : '')
  const answered = statusText(call)
  const attempt = attemptText(call, calls.before(call))
  const openIt = h('button', {
    type: 'button', tabindex: old?.getAttribute('tabindex') ?? -1, 'aria-expanded': String(isOpen), 'aria-controls': 'detail',
    'aria-label': `${name} ${asked}, ${answered} ${call.code ?? ''}`,
  }, name)
  const focused = old !== null && old === document.activeElement
  for (const [name, is] of Object.entries({ failed: failed(call), spoilt: spoilt(call), opened: isOpen })) row.element.classList.toggle(name, is)
  row.element.replaceChildren(
    cell('time', clockText(call.time)),
    cell('op', openIt, h('span', { class: 'n' }, ` #${call.n}`)),
    h('td', { class: 'subject', title: asked }, h('span', { class: 'asked' }, asked), attempt && h('small', { title: attempt }, attempt)),
    cell(`status s${Math.floor(call.status / 100)}`, answered, call.code && h('span', { class: 'answered' }, ` ${call.code}`)),
    cell('lasted number', call.ms === undefined ? '' : lastedText(call.ms)),
    h('td', { class: 'cost number', 'data-label': t('cost') }, call.cost),
    cell('marks', marks(call)),
    cell('key', call.key),
    cell('copy', h('button', { type: 'button', tabindex: -1, 'aria-label': `curl #${call.n}`, title: t('copyCurl'), onclick(event) {
      event.stopPropagation()
      copyCurl(call)
    } }, 'curl')))
  if (focused) openIt.focus()
}

const copyCurl = (call) => copy(curl(call, location.origin), `${t('asCurl')} #${call.n}`)

const marks = (call) => [
  spoilt(call) && ['bad', t(call.broken ? 'broken' : 'false')],
  ...meanings(call).map((meaning) => ['means', meaning]),
  call.sol && call.sol !== 'accepted' && ['bad', t(`sol_${call.sol}`)],
  answeredByService(call) && ['means', t('real')],
  answeredByService(call) === 'strange' && ['bad', t('strange')],
  !call.matched && ['bad', t(call.code === 'MOCK_NOT_RECORDED' ? 'notRecorded' : !call.op || call.code === 'MOCK_METHOD' ? 'unmatched' : call.key ? 'keyRefused' : 'noKey')],
  call.fault && ['fault', call.fault],
].filter(Boolean).map(([kind, text]) => h('span', { class: `mark ${kind}`, title: text }, text))

const listed = () => calls.newest(filter(), Infinity, 0, top).shown.sort((a, b) => a.n - b.n)

const saveJSON = (name, value) => save(name, new Blob([JSON.stringify(value, null, 2)], { type: 'application/json' }))

// exportHAR asks for what the server can filter; a comment begins with the number of its call.
async function exportHAR() {
  const wanted = new Set(listed().map(({ n }) => n))
  const { op } = filter()
  const har = await get(`requests.har?${new URLSearchParams(op && op !== 'unmatched' ? { op } : {})}`)
  const { length: n } = har.log.entries = har.log.entries.filter(({ comment }) => wanted.has(Number(/\d+/.exec(comment))))
  if (n < wanted.size) har.log.comment = t('onlyInHAR', { n: number(n), all: number(wanted.size) })
  saveJSON('llamadas.har', har)
  return har.log.comment
}

function refilter() {
  limit = step
  draw()
  history.replaceState(null, '', address(opened))
}

function togglePause() {
  paused = !paused
  pause.setAttribute('aria-pressed', paused)
  pause.textContent = t(paused ? 'resume' : 'pause')
  update()
}

function showNewest() {
  limit = step
  top = calls.last
  window.scrollTo(0, 0)
  scrolled = false
  draw()
}

// open shows the call of a number, or none for 0.
function open(n) {
  const before = opened
  opened = n
  for (const one of new Set([before, n])) if (rows.has(one)) fill(rows.get(one), rows.get(one).call)
  show()
  if (n !== before) detail.scrollTop = 0
  if (before && !n && document.activeElement === document.body) rows.get(before)?.element.querySelector('button').focus()
}

function show() {
  const call = calls.of(opened)
  const at = [...detail.querySelectorAll('button')].indexOf(document.activeElement)
  detail.hidden = !opened
  detail.parentElement?.classList.toggle('divided', opened > 0)
  detail.replaceChildren(...call ? callDetail(call, calls.attempts(call), address, close)
    : [h('header', {}, h('h2', {}, `${t('call')} #${opened}`), h('button', { type: 'button', onclick: close }, t('close'))), h('p', {}, t('notThere'))])
  if (at >= 0) detail.querySelectorAll('button')[at]?.focus()
  requestAnimationFrame(fit) // the view is not shown yet if the address comes from another one
}

// fit says where the opened call begins in the window, whose end it must not pass.
function fit() { detail.style.setProperty('--at', `${detail.parentElement?.getBoundingClientRect().top ?? 0}px`) }

function close() { location.hash = address(0) }

// onKey goes through the calls: Escape closes one, c copies it as curl, the arrows open another one or move the focus, since
// only one of the rows is reached by Tab.
function onKey(event) {
  const { key, target } = event
  if (controlBar.closest('[hidden]') || event.ctrlKey || event.metaKey || event.altKey || target.closest('dialog') || document.querySelector(':popover-open')) return
  if (key === 'Escape' && opened) return close()
  if (target.closest('input, select, pre')) return
  const focused = target.closest('.calls tbody tr')
  const row = focused ?? rows.get(opened)?.element
  const call = calls.of(row ? Number(row.dataset.n) : opened) // which may be outside of what is listed
  if (key === 'c' && call) return copyCurl(call)
  if (!row) return
  const all = [...body.querySelectorAll('tr[data-n]')]
  const to = { ArrowDown: all[all.indexOf(row) + 1], ArrowUp: all[all.indexOf(row) - 1], Home: focused && all[0], End: focused && all.at(-1) }[key]
  if (!to) return
  event.preventDefault()
  body.querySelector('[tabindex="0"]')?.setAttribute('tabindex', '-1')
  if (opened) {
    history.replaceState(null, '', address(Number(to.dataset.n)))
    open(Number(to.dataset.n))
  }
  const button = to.querySelector('button')
  button.setAttribute('tabindex', '0')
  button.focus()
}
