// What goes wrong on purpose: SUNAT down, and the presets, one click each.
import { announce, button, field, h, items, select, table } from '../element.js'
import { presetText, setPresets } from '../preset.js'
import { get, post, put, remove, segments } from '../server.js'
import { readState, state } from '../state.js'
import { number, t } from '../text.js'

export const id = 'fallas'
export const title = 'faults'

const operations = ['consultar', 'buscar', 'validar', 'tipocambio']
const list = h('tbody', {})
const none = h('p', { class: 'hint' }, '')
const active = table(t('activeFaults'), [[t('fault')], [t('meets')], [t('seen'), 'number'], [t('hits'), 'number'], [t('state')], [t('actions')]], list, { class: 'rows' })
const down = h('button', { type: 'button', role: 'switch', class: 'switch', 'aria-checked': 'false', onclick: switchSUNAT }, t('sunatDown'))

export function make() {
  const op = select({ name: 'op' }, [['preset', t('opOfPreset')], ['', t('allOperations')], ...operations.map((name) => [name, name])])
  const times = select({ name: 'times' }, [['0', t('always')], ['1', t('once')], ['3', t('times', { n: 3 })]])
  const presets = h('ul', { class: 'presets' })
  none.textContent = t('noFaults')
  get('presets').then((found) => {
    setPresets(found)
    presets.append(...found.map((preset) => h('li', {},
      button(preset.name, async () => {
        const match = {}
        const wanted = op.value === 'preset' ? preset.op : op.value
        if (wanted) match.op = wanted
        if (Number(times.value)) match.times = Number(times.value)
        const fault = await post('faults', { match, steps: [{ preset: preset.name }] })
        announce(t('faultAdded', { name: fault.name }))
        await refresh()
      }, { 'aria-describedby': `preset-${preset.name}` }),
      h('span', { id: `preset-${preset.name}` }, presetText(preset.name), preset.op && h('small', {}, ` · ${preset.op}`)))))
  }, () => {})
  return h('div', {},
    h('div', { class: 'card wide sunat' }, down, h('span', { class: 'hint' }, t('sunatDownMeans'))),
    h('h3', {}, t('activeFaults')), active, none,
    h('div', { class: 'actions' }, button(t('deleteFaults'), async () => {
      await remove('faults')
      await refresh()
    }, { class: 'destroys' })),
    h('h3', {}, t('presets')), h('p', { class: 'hint' }, t('presetsMean')),
    h('div', { class: 'bar' }, field(t('operation'), op), field(t('howOften'), times)), presets)
}

async function switchSUNAT() {
  await put('sunat', { down: !state.down })
  await refresh()
}

export async function refresh() {
  await readState()
  down.setAttribute('aria-checked', String(state.down))
  active.hidden = state.faults.length === 0
  none.hidden = state.faults.length > 0
  items(list, state.faults, (fault) => `${fault.name} ${fault.match?.key}`, row)
}

function row(fault) {
  const name = fault.name
  const waits = fault.steps.some((step) => step.hold || step.latency || step.every || /hang/.test(step.break ?? step.preset ?? '') || /slow/.test(step.preset ?? ''))
  return h('tr', {}, h('th', { scope: 'row' }, name, h('small', {}, fault.steps.map(stepText).join('; '))), h('td', {}, matchText(fault.match)),
    h('td', { class: 'number' }, number(fault.seen)), h('td', { class: 'number' }, number(fault.hits)),
    h('td', {}, t(fault.active ? 'faultActive' : 'faultOver')),
    h('td', { class: 'actions' },
      waits && button(t('release'), async () => {
        await post(`faults/${segments(name)}/release`)
        await refresh()
      }, { 'aria-label': `${t('release')}: ${name}`, 'data-focus': 'release' }),
      button(t('delete'), async () => {
        await remove(`faults/${segments(name)}`)
        await refresh()
      }, { 'aria-label': t('deleteFault', { name }), 'data-focus': 'delete', class: 'destroys' })))
}

const stepText = (step) => step.preset ? presetText(step.preset) || step.preset : JSON.stringify(step)

function matchText(match = {}) {
  const written = { op: (op) => op, times: (n) => n === 1 ? t('once').toLowerCase() : t('times', { n }) }
  return Object.entries(match).map(([name, value]) => written[name]?.(value) ?? `${name} ${value}`).join(', ') || t('everyCall')
}
