// What goes wrong on purpose: SUNAT down, a fault of one's own, and the presets, one click each.
import { button, buttons, cell, field, form, h, head, input, items, select, table } from '../element.js'
import { presets, presetText, stepText } from '../preset.js'
import { get, post, put, remove, segments } from '../server.js'
import { operations, state } from '../state.js'
import { number, t } from '../text.js'

export const id = 'fallas'

const list = h('tbody')
const none = h('p', { class: 'hint' }, t('noFaults'))
const active = table('activeFaults', ['fault', 'meets', 'seen number', 'hits number', 'state', 'action'], list)
const down = button('sunatDown', () => put('sunat', { down: !state.down }), { role: 'switch', 'aria-checked': 'false' })
const controls = { // by their names in an address
  op: select({ name: 'op' }, [['', t('answered_')], ...operations]),
  ruc: input('ruc', { inputmode: 'numeric', maxlength: 11, placeholder: t('any') }),
  text: input('text', { placeholder: t('askedHint') }),
  key: select({ name: 'key' }, [['', t('any')]]),
  times: input('times', { type: 'number', min: 1, value: 1, placeholder: t('always') }),
}
const search = input('preset', { type: 'search', oninput: refilter })
const noPreset = h('p', { class: 'hint', hidden: true }, t('noPreset'), ' ', button('showAll', () => {
  search.value = ''
  refilter()
}))
const offered = [] // presets, with their elements
let groups = []

const chosen = () => Object.fromEntries(Object.entries(controls).filter(([, { value }]) => value)
  .map(([name, { value }]) => [name, name === 'times' ? Number(value) : value]))

// set returns what it has set, as a text. The next fault has a number of times of its own.
async function set(match, step) {
  const { name } = await post('faults', { match, steps: [step] })
  controls.times.value = 1
  return t('faultSet', { name })
}

export function make() {
  const own = form('ownFault', ({ status, retryAfter, latency }) => {
    const step = {
      status: Number(status) || undefined, latency: latency ? `${Number(latency)}s` : undefined,
      header: retryAfter ? { 'Retry-After': retryAfter } : undefined,
    }
    if (Object.values(step).every((value) => value === undefined)) throw new Error(t('chooseEffect'))
    return set(chosen(), step)
  }, 'setFault', h('div', { class: 'fields' },
    field('op', controls.op), field('onlyRUC', controls.ruc), field('onlyText', controls.text), field('onlyKey', controls.key), field('howOften', controls.times),
    field('status', input('status', { type: 'number', min: 200, max: 599, value: 503 })),
    field(['Retry-After'], input('retryAfter', { placeholder: t('without') })),
    field('latency', input('latency', { type: 'number', min: 0, step: 'any', placeholder: '0' }))))
  groups = [...new Set(presets.map(({ group }) => group))].map((group) => h('section', {}, h('h4', {}, t(`group_${group}`)),
    h('ul', { class: 'presets' }, presets.filter((preset) => preset.group === group).map(offer))))
  return [h('div', { class: 'bar' }, down, h('small', {}, t('sunatDownMeans'))), h('div', { class: 'card' }, h('h3', {}, t('ownFault')), own), h('h3', {}, t('activeFaults')), active, none,
    h('div', { class: 'actions' }, button('deleteFaults', () => remove('faults'), { class: 'destroys' })),
    h('h3', {}, t('presets')), h('p', { class: 'hint' }, t('presetsMean')),
    h('div', { class: 'bar' }, field('searchPreset', search)), noPreset, groups]
}

function offer({ name, group, op, step = { preset: name } }) {
  const put = (times) => () => set({ op, ...chosen(), ...times && { times } }, step)
  const mark = h('span', { class: 'mark fault', hidden: true }, t('faultActive'))
  const element = h('li', {}, h('div', {}, button([name], put(), { 'aria-describedby': `preset-${name}` }),
  [1, 2].map((times) => button([`×${times}`], put(times), { 'aria-label': `${name} ×${times}` })), mark),
  h('span', { id: `preset-${name}` }, presetText(name), op && h('small', {}, ` · ${op}`)))
  offered.push({ element, mark, step: JSON.stringify(step), words: `${name} ${presetText(name)} ${t(`group_${group}`)} ${op ?? ''}`.toLowerCase() })
  return element
}

function refilter() {
  const text = search.value.trim().toLowerCase()
  for (const { element, words } of offered) element.hidden = !words.includes(text)
  for (const group of groups) group.hidden = !group.querySelector('li:not([hidden])')
  noPreset.hidden = groups.some((group) => !group.hidden)
}

// route fills in what an address says: the calls to meet.
export async function route(_, query) {
  await readKeys().catch(() => {})
  for (const [name, control] of Object.entries(controls)) if (query.has(name)) control.value = query.get(name)
}

async function readKeys() {
  const known = new Set([...controls.key.options].map(({ value }) => value))
  controls.key.append(...(await get('keys')).filter(({ key }) => !known.has(key)).map(({ key }) => h('option', { value: key }, key)))
}

export function refresh() {
  down.setAttribute('aria-checked', state.down)
  active.hidden = state.faults.length === 0
  none.hidden = state.faults.length > 0
  items(list, state.faults, (fault) => `${fault.name} ${fault.match?.key}`, row)
  const running = new Set(state.faults.filter((fault) => fault.active).flatMap(({ steps }) => steps.map((step) => JSON.stringify(step))))
  for (const { mark, step } of offered) mark.hidden = !running.has(step)
}

const row = ({ name, match, steps, seen, hits, active }) => h('tr', {}, head('', name, h('small', {}, steps.map(stepText).join('; '))),
  cell('', matchText(match)), cell('number', number(seen)), cell('number', number(hits)),
  cell('fixed', t(active ? 'faultActive' : 'faultOver')), cell('actions', buttons(name,
    steps.some(waits) && ['release', () => post(`faults/${segments(name)}/release`)],
    ['delete', () => remove(`faults/${segments(name)}`)])))

const waits = (step) => step.hold || step.latency || step.every || /hang|slow/.test(`${step.break} ${step.preset}`)

const matchTexts = { key: 'matchKey', ruc: 'matchRUC', text: 'matchQuestion', userAgent: 'matchAgent', nth: 'matchNth', for: 'matchFor' }

function matchText(match = {}) {
  const written = { op: (op) => op, times: (n) => n === 1 ? t('once').toLowerCase() : t('times', { n }) }
  return Object.entries(match).map(([name, value]) => written[name]?.(value) ?? t(matchTexts[name], { value })).join(', ') || t('everyCall')
}
