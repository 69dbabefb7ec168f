// What goes wrong on purpose: SUNAT down, and the presets, one click each.
import { button, buttons, field, h, items, select, table } from '../element.js'
import { presetText, setPresets } from '../preset.js'
import { get, post, put, remove, segments } from '../server.js'
import { operations, state } from '../state.js'
import { number, t } from '../text.js'

export const id = 'fallas'
export const title = 'faults'

const list = h('tbody')
const none = h('p', { class: 'hint' }, t('noFaults'))
const active = table(t('activeFaults'), [[t('fault')], [t('meets')], [t('seen'), 'number'], [t('hits'), 'number'], [t('state')], [t('actions')]], list)
const down = button(t('sunatDown'), () => put('sunat', { down: !state.down }), { role: 'switch', 'aria-checked': 'false' })

export function make() {
  const op = select({}, [['preset', t('opOfPreset')], ['', t('allOperations')], ...operations])
  const times = select({}, [['0', t('always')], ['1', t('once')], ['3', t('times', { n: 3 })]])
  const presets = h('ul', { class: 'presets' })
  get('presets').then((found) => {
    setPresets(found)
    presets.append(...found.map((preset) => h('li', {},
      button(preset.name, () => post('faults', {
        match: { op: (op.value === 'preset' ? preset.op : op.value) || undefined, times: Number(times.value) },
        steps: [{ preset: preset.name }],
      }), { 'aria-describedby': `preset-${preset.name}` }),
      h('span', { id: `preset-${preset.name}` }, presetText(preset.name), preset.op && h('small', {}, ` · ${preset.op}`)))))
  }, () => {})
  return [h('div', { class: 'card wide sunat' }, down, h('span', { class: 'hint' }, t('sunatDownMeans'))),
    h('h3', {}, t('activeFaults')), active, none,
    h('div', { class: 'actions' }, button(t('deleteFaults'), () => remove('faults'), { class: 'destroys' })),
    h('h3', {}, t('presets')), h('p', { class: 'hint' }, t('presetsMean')),
    h('div', { class: 'bar' }, field(t('operation'), op), field(t('howOften'), times)), presets]
}

export function refresh() {
  down.setAttribute('aria-checked', state.down)
  active.hidden = state.faults.length === 0
  none.hidden = state.faults.length > 0
  items(list, state.faults, (fault) => `${fault.name} ${fault.match?.key}`, row)
}

const row = ({ name, match, steps, seen, hits, active }) => h('tr', {}, h('th', { scope: 'row' }, name, h('small', {}, steps.map(stepText).join('; '))),
  h('td', {}, matchText(match)), h('td', { class: 'number' }, number(seen)), h('td', { class: 'number' }, number(hits)),
  h('td', {}, t(active ? 'faultActive' : 'faultOver')), h('td', { class: 'actions' }, buttons(name,
    steps.some(waits) && ['release', () => post(`faults/${segments(name)}/release`)],
    ['delete', () => remove(`faults/${segments(name)}`)])))

const waits = (step) => step.hold || step.latency || step.every || /hang|slow/.test(`${step.break} ${step.preset}`)

const stepText = (step) => presetText(step.preset) || JSON.stringify(step)

function matchText(match = {}) {
  const written = { op: (op) => op, times: (n) => n === 1 ? t('once').toLowerCase() : t('times', { n }) }
  return Object.entries(match).map(([name, value]) => written[name]?.(value) ?? `${name} ${value}`).join(', ') || t('everyCall')
}
