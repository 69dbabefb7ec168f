// How the server reads what the contract leaves open.
import { buttons, form, h, input, items, select, table } from '../element.js'
import { put } from '../server.js'
import { state } from '../state.js'
import { assumptionText } from '../assumption.js'
import { t } from '../text.js'

export const id = 'supuestos'
export const title = 'assumptions'

const list = h('tbody')

export const make = () => [h('p', { class: 'hint' }, t('assumptionsMean')),
  table(t('assumptions'), [[t('assumption')], [t('value')], [t('default')], [t('section')], [t('reason')]], list, { class: 'rows assumptions' })]

export const refresh = () => items(list, state.assumptions, (assumption) => assumption.name, row)

function row({ name, value, default: standard, section, reason }) {
  const { what, why } = assumptionText(name, reason)
  const change = (to) => put('assumptions', { [name]: to })
  const edited = function () { this.form.classList.toggle('edited', this.value !== value) }
  const control = standard === 'true' || standard === 'false'
    ? select({ name: 'value', 'aria-label': name, oninput: edited }, [['true', 'true'], ['false', 'false']], value)
    : input('value', { 'aria-label': name, value, oninput: edited })
  return h('tr', { class: value !== standard && 'changed' }, h('th', { scope: 'row' }, name, h('small', {}, what)),
    h('td', {}, form(name, async (values) => {
      await change(values.value)
      control.blur()
    }, t('save'), control)),
    h('td', {}, h('code', {}, standard), value !== standard && buttons(name, ['toDefault', () => change(standard)])),
    h('td', {}, section), h('td', {}, why))
}
