// The rates of a month: a chart, and a calendar that says of each day without a rate why it has none.
import { announce, button, field, form, h } from '../element.js'
import { chart } from '../chart.js'
import { get, post, put, remove } from '../server.js'
import { language, t } from '../text.js'
import { limaDate, longDayText, now } from '../time.js'

export const id = 'tipocambio'
export const title = 'tipocambio'

let month = ''
let chosen = ''
let days = []
let shown = ''
const picker = h('input', { type: 'month', required: true, oninput: () => { if (picker.validity.valid) go(picker.value) } })
const drawing = h('figure', {})
const calendar = h('div', {})
const detail = h('section', { class: 'card wide', 'aria-live': 'polite' })

export function make() {
  month = limaDate(now()).slice(0, 7)
  chosen = limaDate(now())
  return h('div', {}, h('div', { class: 'bar' },
    button('‹', () => go(shift(-1)), { 'aria-label': t('monthBefore') }), field(t('month'), picker), button('›', () => go(shift(1)), { 'aria-label': t('monthAfter') })),
  drawing, h('div', { class: 'month' }, calendar, detail))
}

function shift(by) {
  const [year, number] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number - 1 + by, 1)).toISOString().slice(0, 7)
}

async function go(to) {
  month = to
  await refresh()
}

export async function refresh() {
  const asked = month
  const found = await get(`tiposcambio?mes=${asked}`)
  if (asked !== month) return
  const text = JSON.stringify([found, limaDate(now()), chosen])
  if (text === shown) return
  shown = text
  days = found
  picker.value = month
  if (!days.some(({ fecha }) => fecha === chosen)) chosen = days.find(({ venta }) => venta !== undefined)?.fecha ?? days[0].fecha
  draw()
}

// digits writes a rate with three decimals, as they are published, or more.
const digits = (rate) => rate.toFixed(Math.max(3, (String(rate).split('.')[1] ?? '').length))

// short is why a day has no rate, in a word or two: the calendar's cells are small.
function short(why) {
  const holiday = /feriado nacional, ([^;]+)/.exec(why)?.[1]
  if (holiday) return holiday
  const known = [[/sábado/, 'saturday'], [/domingo/, 'sunday'], [/futura/, 'future'], [/todavía/, 'notYet']].find(([words]) => words.test(why))
  return known ? t(known[1]) : t('noneOfIt')
}

function draw() {
  const name = t('monthOf', { month })
  const sold = days.flatMap(({ venta }) => venta ?? [])
  const range = sold.length ? t('chartRange', { low: digits(Math.min(...sold)), high: digits(Math.max(...sold)), n: sold.length }) : t('noRates')
  drawing.replaceChildren(chart(days, `${name}. ${range}`), h('figcaption', { class: 'hint' }, range))
  const first = (new Date(`${days[0].fecha}T12:00:00Z`).getUTCDay() + 6) % 7 // Monday is 0
  const cells = [...Array(first).fill(null), ...days]
  while (cells.length % 7) cells.push(null)
  const weeks = []
  for (let i = 0; i < cells.length; i += 7) weeks.push(h('tr', {}, cells.slice(i, i + 7).map(cell)))
  const focused = calendar.contains(document.activeElement) && document.activeElement.dataset.fecha
  calendar.replaceChildren(h('table', { class: 'calendar' }, h('caption', { class: 'unseen' }, name),
    h('thead', {}, h('tr', {}, weekdays().map(([brief, long]) => h('th', { scope: 'col', abbr: long }, brief)))), h('tbody', {}, weeks)))
  if (focused) calendar.querySelector(`[data-fecha="${focused}"]`)?.focus()
  drawDay()
}

function weekdays() {
  const write = (weekday, i) => new Intl.DateTimeFormat(language, { weekday, timeZone: 'UTC' }).format(Date.UTC(2024, 0, 1 + i))
  return Array.from({ length: 7 }, (_, i) => [write('short', i), write('long', i)])
}

function cell(day) {
  if (!day) return h('td', {})
  const has = day.venta !== undefined
  const text = has ? digits(day.venta) : short(day.why)
  const long = longDayText(Date.parse(`${day.fecha}T12:00:00-05:00`))
  return h('td', {}, h('button', {
    type: 'button', class: [has ? 'rate' : 'none', day.put && 'put', day.fecha === limaDate(now()) && 'today'].filter(Boolean).join(' '),
    'aria-pressed': String(day.fecha === chosen), 'data-fecha': day.fecha, title: has ? null : day.why,
    'aria-label': `${long}: ${has ? `compra ${digits(day.compra)}, venta ${text}` : day.why}`,
    onclick: () => { chosen = day.fecha; draw() },
  }, h('b', {}, Number(day.fecha.slice(8))), h('span', {}, text)))
}

function drawDay() {
  const day = days.find(({ fecha }) => fecha === chosen)
  const { fecha, compra, venta, why, put: byHand } = day
  const rate = (name, value) => field(name, h('input', { name, required: true, pattern: '[0-9]+([.][0-9]+)?', inputmode: 'decimal', autocomplete: 'off', value: value === undefined ? null : digits(value), title: t('decimal') }))
  const never = /feriado|sábado|domingo/.test(why ?? '')
  detail.replaceChildren(h('h3', {}, longDayText(Date.parse(`${fecha}T12:00:00-05:00`))),
    h('p', {}, venta === undefined ? t('noRateWhy', { why }) : t('rateOf', { compra: digits(compra), venta: digits(venta) }), byHand && [' ', h('span', { class: 'mark' }, t('byHand'))]),
    never ? '' : form(t('setRate'), async (values) => {
      await put(`tiposcambio/${fecha}`, values)
      announce(t('saved'))
      await refresh()
    }, t('setRate'), h('div', { class: 'fields' }, rate('compra', compra), rate('venta', venta))),
    never ? '' : h('div', { class: 'actions' },
      byHand && button(t('restoreRate'), async () => { await post(`tiposcambio/${fecha}/restore`); await refresh() }),
      venta !== undefined && button(t('deleteRate'), async () => { await remove(`tiposcambio/${fecha}`); await refresh() }, { class: 'destroys' })))
}
