// What goes wrong on purpose: SUNAT down, and the presets, one click each.
import { button, buttons, cell, field, h, head, items, select, table } from '../element.js'
import { presets, presetText } from '../preset.js'
import { post, put, remove, segments } from '../server.js'
import { operations, state } from '../state.js'
import { number, t } from '../text.js'

export const id = 'fallas'

const list = h('tbody')
const none = h('p', { class: 'hint' }, t('noFaults'))
const active = table('activeFaults', ['fault', 'meets', 'seen number', 'hits number', 'state', 'action'], list)
const down = button('sunatDown', () => put('sunat', { down: !state.down }), { role: 'switch', 'aria-checked': 'false' })

export function make() {
  const op = select({}, [['preset', t('opOfPreset')], ['', t('allOperations')], ...operations])
  const times = select({}, [['0', t('always')], ['1', t('once')], ['3', t('times', { n: 3 })]])
  const set = ({ name, op: shownIn }) => post('faults', {
    match: { op: (op.value === 'preset' ? shownIn : op.value) || undefined, times: Number(times.value) },
    steps: [{ preset: name }],
  })
  return [h('div', { class: 'card wide' }, down, h('small', {}, t('sunatDownMeans'))),
    h('h3', {}, t('activeFaults')), active, none,
    h('div', { class: 'actions' }, button('deleteFaults', () => remove('faults'), { class: 'destroys' })),
    h('h3', {}, t('presets')), h('p', { class: 'hint' }, t('presetsMean')),
    h('div', { class: 'bar' }, field('op', op), field('howOften', times)), h('ul', { class: 'presets' }, presets.map((preset) => h('li', {},
      button([preset.name], () => set(preset), { 'aria-describedby': preset.name }),
      h('span', { id: preset.name }, presetText(preset.name), preset.op && h('small', {}, ` · ${preset.op}`)))))]
}

export function refresh() {
  down.setAttribute('aria-checked', state.down)
  active.hidden = state.faults.length === 0
  none.hidden = state.faults.length > 0
  items(list, state.faults, (fault) => `${fault.name} ${fault.match?.key}`, row)
}

const row = ({ name, match, steps, seen, hits, active }) => h('tr', {}, head('', name, h('small', {}, steps.map(stepText).join('; '))),
  cell('', matchText(match)), cell('number', number(seen)), cell('number', number(hits)),
  cell('', t(active ? 'faultActive' : 'faultOver')), cell('actions', buttons(name,
    steps.some(waits) && ['release', () => post(`faults/${segments(name)}/release`)],
    ['delete', () => remove(`faults/${segments(name)}`)])))

const waits = (step) => step.hold || step.latency || step.every || /hang|slow/.test(`${step.break} ${step.preset}`)

const stepText = (step) => presetText(step.preset) || JSON.stringify(step)

function matchText(match = {}) {
  const written = { op: (op) => op, times: (n) => n === 1 ? t('once').toLowerCase() : t('times', { n }) }
  return Object.entries(match).map(([name, value]) => written[name]?.(value) ?? `${name} ${value}`).join(', ') || t('everyCall')
}
