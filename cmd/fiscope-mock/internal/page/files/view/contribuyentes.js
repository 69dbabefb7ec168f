// The taxpayers: searched, changed, added.
import { button, buttons, cell, dialog, field, h, head, input, items, rucInput, table } from '../element.js'
import { get, put, remove, segments } from '../server.js'
import { t } from '../text.js'

export const id = 'contribuyentes'

const most = 50
const fields = ['razonSocial', 'nombreComercial', 'estado', 'condicion', 'direccion', 'ubigeo', 'departamento', 'provincia', 'distrito',
  'tipo', 'actividadEconomica', 'fechaInscripcion', 'fechaInicioActividades']
const known = { estado: ['ACTIVO', 'BAJA PROVISIONAL', 'BAJA DEFINITIVA', 'SUSPENSIÓN TEMPORAL'], condicion: ['HABIDO', 'NO HABIDO', 'NO HALLADO', 'PENDIENTE'] }

const list = h('tbody')
const found = h('p', { class: 'hint', role: 'status' })
const search = input('text', { type: 'search', oninput: later })
let waiting

export const make = () => [
  h('div', { class: 'bar' }, field('searchTaxpayer', search), h('div', { class: 'actions' }, button('addTaxpayer', () => edit()))), found,
  table('contribuyentes', ['RUC', 'razonSocial', 'estado', 'condicion', 'action'], list),
  Object.entries(known).map(([name, values]) => h('datalist', { id: name }, values.map((value) => h('option', { value }))))]

function later() {
  clearTimeout(waiting)
  waiting = setTimeout(() => refresh().catch(() => {}), 200)
}

export async function refresh() {
  const text = search.value.trim()
  const records = await get(`contribuyentes?text=${encodeURIComponent(text)}&limit=${most}`)
  if (text !== search.value.trim()) return // a later search is under way
  items(list, records, (record) => record.ruc, row)
  found.textContent = t(records.length === most ? 'firstFound' : 'found', { n: records.length })
}

const pathOf = ({ ruc }) => `contribuyentes/${segments(ruc)}`

const row = (record) => h('tr', {}, head('fixed', record.ruc), cell('word', record.razonSocial),
  cell('', record.estado), cell('', record.condicion),
  cell('actions', buttons(record.ruc, ['edit', () => edit(record)], ['delete', () => remove(pathOf(record))])))

const edit = (record) => dialog(record ? `${t('edit')}: ${record.ruc}` : t('addTaxpayer'), async (values) => {
  await put(pathOf(values), values)
  search.value = values.ruc
}, field('RUC', rucInput('ruc', { value: record?.ruc, readonly: Boolean(record) })),
fields.map((name) => field(name, input(name, { value: record?.[name], list: known[name] && name, required: name === 'razonSocial' }))))
