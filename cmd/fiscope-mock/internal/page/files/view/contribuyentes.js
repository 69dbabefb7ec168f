// The taxpayers: searched, changed, added.
import { button, buttons, cell, dialog, field, h, head, input, items, rucInput, table } from '../element.js'
import { get, put, remove, segments } from '../server.js'
import { assumed } from '../state.js'
import { t } from '../text.js'

export const id = 'contribuyentes'

const most = 50
const fields = ['razonSocial', 'nombreComercial', 'estado', 'condicion', 'direccion', 'ubigeo', 'departamento', 'provincia', 'distrito',
  'tipo', 'actividadEconomica', 'fechaInscripcion', 'fechaInicioActividades']
const standard = { estado: 'ACTIVO', condicion: 'HABIDO', ubigeo: '150101', fechaInscripcion: '2000-01-03', fechaInicioActividades: '2000-01-03' }
const known = { estado: ['ACTIVO', 'BAJA PROVISIONAL', 'BAJA DEFINITIVA', 'SUSPENSIÓN TEMPORAL'], condicion: ['HABIDO', 'NO HABIDO', 'NO HALLADO', 'PENDIENTE'] }

const list = h('tbody')
const found = h('p', { class: 'hint', role: 'status' })
const search = input('text', { type: 'search', oninput: later })
const nobody = h('p', { hidden: true }, button('showAll', () => { search.value = '' }))
let waiting

export const make = () => [
  h('div', { class: 'bar' }, field('searchTaxpayer', search), h('div', { class: 'actions' },
    button('addTaxpayer', () => edit(missed())), button('addNoHabido', addNoHabido))), found, nobody,
  table('contribuyentes', ['RUC', 'razonSocial', 'estado', 'condicion', 'action'], list)]

function later() {
  clearTimeout(waiting)
  waiting = setTimeout(() => refresh().catch(() => {}), 200)
}

export async function refresh() {
  const text = search.value.trim()
  const records = await get(`contribuyentes?text=${encodeURIComponent(text)}&limit=${most}`)
  if (text !== search.value.trim()) return // a later search is under way
  items(list, records, (record) => record.ruc, row)
  const none = text !== '' && records.length === 0
  list.parentElement.hidden = none
  found.textContent = t(records.length === most ? 'firstFound' : none ? 'nobody' : 'found', { n: records.length, text })
  nobody.hidden = !none
}

// missed is the RUC that was searched for, if nobody has it.
const missed = () => nobody.hidden || !/^\d{11}$/.test(search.value.trim()) ? {} : { ruc: search.value.trim() }

// addNoHabido adds one at once, with the RUC that was searched for or a free one.
async function addNoHabido() {
  const { ruc = await freeRUC() } = missed()
  await put(pathOf({ ruc }), { razonSocial: t('testName'), estado: 'ACTIVO', condicion: 'NO HABIDO' })
  search.value = ruc
}

// freeRUC is the first one of a range that SUNAT has not given out which nobody has, with its check digit.
async function freeRUC() {
  for (let base = 2099998000; ; base++) {
    const sum = [...String(base)].reduce((sum, digit, i) => sum + digit * '5432765432'[i], 0)
    const ruc = `${base}${(11 - sum % 11) % 10}`
    if ((await get(`contribuyentes?text=${ruc}&limit=1`)).length === 0) return ruc
  }
}

// served is a state as answers write it.
function served(estado) {
  const vocabulary = assumed('Estados')
  if (vocabulary === 'lista') return estado.replace(/^BAJA.*/, 'BAJA').replace(/^SUSPENSI.*/, 'SUSPENSIÓN')
  return vocabulary === 'sunat' ? estado.normalize('NFD').replace(/\p{M}/gu, '').toUpperCase().slice(0, 20) : estado
}

const orStandard = (name, value) => value || h('span', { class: 'hint', title: t('default') }, standard[name])

const pathOf = ({ ruc }) => `contribuyentes/${segments(ruc)}`

const row = (record) => h('tr', {}, head('fixed', record.ruc), cell('word', record.razonSocial),
  cell('', orStandard('estado', served(record.estado))), cell('', orStandard('condicion', record.condicion)),
  cell('actions', buttons(record.ruc, ['edit', () => edit(record)], ['delete', () => remove(pathOf(record))])))

// edit opens a form for a taxpayer: one of the list, or a new one, of which something is known.
export function edit(record = {}) {
  const isNew = record.razonSocial === undefined
  const { ruc, ...filled } = isNew ? { razonSocial: t('testName'), ...record } : record
  dialog(isNew ? t('addTaxpayer') : `${t('edit')}: ${ruc}`, async (values) => {
    await put(pathOf(values), values)
    search.value = values.ruc
  }, field('RUC', rucInput('ruc', { value: ruc, readonly: !isNew })),
  fields.map((name) => field(name, input(name, { value: filled[name], list: known[name] && name, placeholder: standard[name], required: name === 'razonSocial' }))),
  Object.entries(known).map(([name, values]) => h('datalist', { id: name }, values.map((value) => h('option', { value })))))
}
