// The rates of a month: a chart, and a calendar that says of each day without a rate why it has none.
import { button, field, form, h, input } from '../element.js'
import { chart } from '../chart.js'
import { get, post, put, remove } from '../server.js'
import { language, t } from '../text.js'
import { limaDate, longDayText, now, setClock } from '../time.js'

export const id = 'tipocambio'

let month, chosen, days, shown
const picker = h('input', { type: 'month', required: true, oninput: () => { if (picker.validity.valid) go(picker.value) } })
const drawing = h('figure')
const calendar = h('div')
const detail = h('section', { class: 'card wide' })

export function make() {
  chosen = limaDate(now())
  month = chosen.slice(0, 7)
  return [h('div', { class: 'bar' }, button('‹', () => go(shift(-1)), { 'aria-label': t('monthBefore') }), field('month', picker),
    button('›', () => go(shift(1)), { 'aria-label': t('monthAfter') })), drawing, h('div', { class: 'month' }, calendar, detail)]
}

function shift(by) {
  const [year, number] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number - 1 + by, 1)).toISOString().slice(0, 7)
}

// route shows the day of an address.
export function route(day) {
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) return
  chosen = day
  month = day.slice(0, 7)
  shown = undefined
}

async function go(to) {
  month = to
  await refresh()
}

export async function refresh() {
  const asked = month
  const found = await get(`tiposcambio?mes=${asked}`)
  const text = JSON.stringify([found, limaDate(now())])
  if (asked !== month || text === shown) return
  shown = text
  days = found
  picker.value = month
  if (!days.some(({ fecha }) => fecha === chosen)) chosen = (days.find(({ venta }) => venta) ?? days[0]).fecha
  draw()
}

// digits writes a rate with three decimals, as they are published, or more.
const digits = (rate) => rate.toFixed(Math.max(3, (String(rate).split('.')[1] ?? '').length))
const longText = (fecha) => longDayText(Date.parse(`${fecha}T12:00-05:00`))

// short is why a day has no rate, in a word or two: the calendar's cells are small.
function short(why) {
  const holiday = /feriado nacional, ([^;]+)/.exec(why)?.[1]
  const known = [[/sábado/, 'saturday'], [/domingo/, 'sunday'], [/futura/, 'future'], [/todavía/, 'notYet'], [/./, 'noData']]
  return holiday ?? t(known.find(([words]) => words.test(why))[1])
}

const reason = (why) => why && (language === 'es' ? why : short(why))

function draw() {
  const name = `${t('tipocambio')}, ${month}`
  const sold = days.flatMap(({ venta }) => venta ?? [])
  const range = sold.length ? t('chartRange', { low: digits(Math.min(...sold)), high: digits(Math.max(...sold)), n: sold.length }) : t('noRates')
  drawing.replaceChildren(sold.length ? chart(days, `${name}. ${range}`, Math.min(drawing.clientWidth, 720)) : '', h('figcaption', { class: 'hint' }, range))
  const before = (new Date(days[0].fecha).getUTCDay() + 6) % 7 // days of the week, which begins on Monday
  const cells = [...Array(before).fill(null), ...days, ...Array((14 - (before + days.length) % 7) % 7).fill(null)]
  const weeks = Array.from({ length: Math.ceil(cells.length / 7) }, (_, i) => cells.slice(i * 7, i * 7 + 7))
  const focused = calendar.contains(document.activeElement)
  calendar.replaceChildren(h('table', { class: 'calendar' }, h('caption', { class: 'unseen' }, name),
    h('thead', {}, h('tr', {}, Array.from({ length: 7 }, (_, i) => h('th', { scope: 'col', abbr: weekday('long', i) }, weekday('short', i))))),
    h('tbody', {}, weeks.map((week) => h('tr', {}, week.map(cell))))))
  if (focused) calendar.querySelector('[aria-pressed=true]')?.focus()
  drawDay()
}

const weekday = (length, i) => new Intl.DateTimeFormat(language, { weekday: length, timeZone: 'UTC' }).format(Date.UTC(2024, 0, 1 + i)) // a Monday

function cell(day) {
  if (!day) return h('td')
  const { fecha, compra, venta, why } = day
  return h('td', {}, h('button', {
    type: 'button', class: `${venta ? 'rate' : 'none'} ${venta && why ? 'ahead' : ''} ${fecha === limaDate(now()) ? 'today' : ''}`,
    'aria-pressed': String(fecha === chosen), title: reason(why),
    onclick: () => { chosen = fecha; draw() },
  }, h('b', {}, Number(fecha.slice(8))), h('span', {}, venta ? digits(venta) : short(why)),
  h('span', { class: 'unseen' }, ` ${longText(fecha)}: ${[venta && `compra ${digits(compra)}, venta ${digits(venta)}`, reason(why)].filter(Boolean).join('; ')}`)))
}

function drawDay() {
  const { fecha, compra, venta, why, put: byHand } = days.find((day) => day.fecha === chosen)
  const rate = (name, value) => field(name, input(name, { required: true, pattern: '[0-9]+([.][0-9]+)?', inputmode: 'decimal', value: value && digits(value), title: t('decimal') }))
  const never = /feriado|sábado|domingo/.test(why)
  detail.replaceChildren(h('h3', {}, longText(fecha)),
    h('p', {}, venta ? t('rateOf', { compra: digits(compra), venta: digits(venta) }) : '', ' ', why ? t(venta ? 'notYetWhy' : 'noRateWhy', { why: reason(why) }) : '', byHand ? h('small', {}, t('byHand')) : ''),
    ...never ? [] : [form('setRate', (values) => put(`tiposcambio/${fecha}`, values), 'setRate', h('div', { class: 'fields' }, rate('compra', compra), rate('venta', venta))),
      h('div', { class: 'actions' }, venta && why && button('goThere', async () => setClock(await put('clock', { now: `${fecha}T17:00:00-05:00` }))), byHand && button('restoreRate', () => post(`tiposcambio/${fecha}/restore`)),
        venta && button('deleteRate', () => remove(`tiposcambio/${fecha}`), { class: 'destroys' }))])
}
