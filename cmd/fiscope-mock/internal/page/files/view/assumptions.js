// How the server reads what the contract leaves open.
import { announce, button, form, h, items, select, table } from '../element.js'
import { put } from '../server.js'
import { readState, state } from '../state.js'
import { assumptionText } from '../assumption.js'
import { t } from '../text.js'

export const id = 'supuestos'
export const title = 'assumptions'

const list = h('tbody', {})

export function make() {
  return h('div', {}, h('p', { class: 'hint' }, t('assumptionsMean')),
    table(t('assumptions'), [[t('assumption')], [t('value')], [t('default')], [t('section')], [t('reason')]], list, { class: 'rows assumptions' }))
}

export async function refresh() {
  await readState()
  items(list, state.assumptions, (assumption) => assumption.name, row)
}

function row({ name, value, default: standard, section, reason }) {
  const { what, why } = assumptionText(name, reason)
  const properties = { name: 'value', 'aria-label': name, 'data-focus': 'value' }
  const isBoolean = standard === 'true' || standard === 'false'
  const input = isBoolean
    ? select({ ...properties, onchange() { this.form.requestSubmit() } }, [['true', 'true'], ['false', 'false']], value)
    : h('input', { ...properties, value, autocomplete: 'off', spellcheck: 'false', oninput() { this.form.classList.toggle('edited', this.value !== value) } })
  const change = async (to) => {
    await put('assumptions', { [name]: to })
    announce(`${name} = ${to}`)
    document.activeElement?.blur()
    await refresh()
  }
  const made = form(name, (values) => change(values.value), t('save'), input)
  made.querySelector('[type=submit]').setAttribute('aria-label', `${t('save')}: ${name}`)
  if (isBoolean) made.querySelector('[type=submit]').remove()
  const changed = value !== standard
  return h('tr', { class: changed ? 'changed' : null }, h('th', { scope: 'row' }, name, h('small', {}, what)), h('td', {}, made),
    h('td', {}, h('code', {}, standard), changed && button(t('toDefault'), () => change(standard), { 'aria-label': `${t('toDefault')}: ${name}`, 'data-focus': 'default' })),
    h('td', {}, section), h('td', {}, why))
}
