// The taxpayers: searched, changed, added.
import { announce, button, dialog, field, h, items, table } from '../element.js'
import { get, put, remove, segments } from '../server.js'
import { t } from '../text.js'

export const id = 'contribuyentes'
export const title = 'contribuyentes'

const most = 50
const fields = ['razonSocial', 'nombreComercial', 'estado', 'condicion', 'direccion', 'ubigeo', 'departamento', 'provincia', 'distrito',
  'tipo', 'actividadEconomica', 'fechaInscripcion', 'fechaInicioActividades']
const known = { estado: ['ACTIVO', 'BAJA PROVISIONAL', 'BAJA DEFINITIVA', 'SUSPENSIÓN TEMPORAL'], condicion: ['HABIDO', 'NO HABIDO', 'NO HALLADO', 'PENDIENTE'] }

const list = h('tbody', {})
const found = h('p', { class: 'hint', role: 'status' })
const search = h('input', { type: 'search', autocomplete: 'off', spellcheck: 'false', oninput: later })
let waiting

export function make() {
  return h('div', {}, h('div', { class: 'bar' }, field(t('searchTaxpayer'), search),
    h('div', { class: 'actions' }, button(t('addTaxpayer'), () => edit()))), found,
  table(t('contribuyentes'), [['RUC'], ['razonSocial'], ['estado'], ['condicion'], [t('actions')]], list, { class: 'rows' }),
  Object.entries(known).map(([name, values]) => h('datalist', { id: `known-${name}` }, values.map((value) => h('option', { value })))))
}

function later() {
  clearTimeout(waiting)
  waiting = setTimeout(() => refresh().catch(() => {}), 200)
}

export async function refresh() {
  const text = search.value.trim()
  const records = await get(`contribuyentes?text=${encodeURIComponent(text)}&limit=${most}`)
  if (text !== search.value.trim()) return // a later search is under way
  items(list, records, (record) => record.ruc, row)
  found.textContent = records.length === most ? t('firstFound', { n: most }) : t(records.length === 1 ? 'found1' : 'found', { n: records.length })
}

function row(record) {
  const { ruc } = record
  return h('tr', {}, h('th', { scope: 'row', class: 'fixed' }, ruc), h('td', { class: 'word' }, record.razonSocial), h('td', {}, record.estado), h('td', {}, record.condicion),
    h('td', { class: 'actions' },
      button(t('edit'), () => edit(record), { 'aria-label': `${t('edit')}: ${ruc}`, 'data-focus': 'edit' }),
      button(t('delete'), async () => {
        await remove(`contribuyentes/${segments(ruc)}`)
        announce(t('deleted', { name: ruc }))
        await refresh()
      }, { 'aria-label': `${t('delete')}: ${ruc}`, 'data-focus': 'delete', class: 'destroys' })))
}

function edit(record) {
  const inputs = fields.map((name) => field(name, h('input', { name, value: record?.[name], autocomplete: 'off', list: known[name] && `known-${name}`, required: name === 'razonSocial' })))
  const ruc = h('input', { name: 'ruc', value: record?.ruc, readonly: Boolean(record), required: true, pattern: '[0-9]{11}', inputmode: 'numeric', title: t('elevenDigits'), autocomplete: 'off' })
  dialog(record ? `${t('edit')}: ${record.ruc}` : t('addTaxpayer'), async (values) => {
    await put(`contribuyentes/${segments(values.ruc)}`, values)
    if (!record) search.value = values.ruc
    announce(t('saved'))
    await refresh()
  }, t('save'), field('RUC', ruc), inputs)
}
