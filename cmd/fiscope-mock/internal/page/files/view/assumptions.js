// How the server reads what the contract leaves open.
import { buttons, cell, form, h, head, input, items, select, table } from '../element.js'
import { put } from '../server.js'
import { state } from '../state.js'
import { assumptionText } from '../assumption.js'
import { t } from '../text.js'

export const id = 'supuestos'

const list = h('tbody')

export const make = () => [h('p', { class: 'hint' }, t('assumptionsMean')),
  table('supuestos', ['assumption', 'value', 'default', 'section', 'reason'], list, 'rows assumptions')]

export const refresh = () => items(list, state.assumptions, (assumption) => assumption.name, row)

function row({ name, value, default: standard, section, reason }) {
  const [what, why] = assumptionText(name, reason)
  const change = (to) => put('assumptions', { [name]: to })
  const edited = function () { this.form.classList.toggle('edited', this.value !== value) }
  const control = standard === 'true' || standard === 'false'
    ? select({ name: 'value', 'aria-label': name, oninput: edited }, [['true', 'true'], ['false', 'false']], value)
    : input('value', { 'aria-label': name, value, oninput: edited })
  return h('tr', { class: value !== standard && 'changed' }, head('', name, h('small', {}, what)),
    cell('', form(null, async (values) => {
      await change(values.value)
      control.blur()
    }, 'save', control)),
    cell('', h('code', {}, standard), value !== standard && buttons(name, ['toDefault', () => change(standard)])),
    cell('', section), cell('', why))
}
