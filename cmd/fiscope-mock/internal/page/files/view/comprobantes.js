// The receipts that SUNAT knows, and what it says of each.
import { button, buttons, cell, dialog, field, h, head, input, items, rucInput, select, table } from '../element.js'
import { get, put, remove, segments } from '../server.js'
import { t } from '../text.js'

export const id = 'comprobantes'

const most = 200
const options = (name, values) => values.map((value) => [value, `${value} ${t(name + value)}`])
const kinds = options('kind', ['01', '03', '07', '08'])
const results = options('codigo', ['0', '2', '4', '98', '99'])
const textOf = (list, value) => list.find(([known]) => known === value)?.[1] ?? value

const list = h('tbody')
const found = h('p', { class: 'hint', role: 'status' })
const issuer = input('ruc', { type: 'search', inputmode: 'numeric', maxlength: 11, placeholder: t('all'), oninput: () => refresh().catch(() => {}) })

export const make = () => [
  h('div', { class: 'bar' }, field('issuer', issuer), h('div', { class: 'actions' }, button('addReceipt', () => edit()))), found,
  table('comprobantes', ['rucEmisor', 'kind', 'serieNumero', 'result', 'mensaje', 'action'], list)]

export async function refresh() {
  const ruc = issuer.value.trim()
  const receipts = (await get(`comprobantes?limit=${most}${ruc.length === 11 ? `&ruc=${segments(ruc)}` : ''}`))
    .filter((receipt) => receipt.rucEmisor.startsWith(ruc))
  items(list, receipts, pathOf, row)
  list.parentElement.hidden = receipts.length === 0
  found.replaceChildren(t(receipts.length === most ? 'firstFound' : 'found', { n: receipts.length }), ' ',
    receipts.length === 0 && ruc ? button('showAll', () => { issuer.value = '' }) : '')
}

const partsOf = (receipt) => ['rucEmisor', 'tipoComprobante', 'serie', 'numero'].map((name) => String(receipt[name]).trim())
const pathOf = (receipt) => `comprobantes/${segments(...partsOf(receipt))}`

const row = (receipt) => h('tr', {}, head('fixed', receipt.rucEmisor), cell('fixed', textOf(kinds, receipt.tipoComprobante)),
  cell('word', `${receipt.serie}-${receipt.numero}`), cell('fixed', textOf(results, receipt.codigo)), cell('word', receipt.mensaje),
  cell('actions', buttons(partsOf(receipt).join('-'), ['edit', () => edit(receipt)], ['delete', () => remove(pathOf(receipt))])))

// edit opens a form for a receipt: one of the list, or a new one, of which something is known.
export function edit(receipt = {}) {
  const isNew = receipt.mensaje === undefined
  const fixed = { readonly: !isNew, required: true }
  dialog(isNew ? t('addReceipt') : `${t('edit')}: ${partsOf(receipt).join('-')}`,
    ({ codigo, mensaje, ...named }) => put(pathOf(isNew ? { ...named, numero: Number(named.numero) } : receipt), { luego: receipt.luego, codigo, mensaje }),
    field('rucEmisor', rucInput('rucEmisor', { value: receipt.rucEmisor, ...fixed })),
    field('tipoComprobante', select({ name: 'tipoComprobante', disabled: !isNew }, kinds, receipt.tipoComprobante)),
    field('serie', input('serie', { value: receipt.serie, placeholder: 'F001', ...fixed })),
    field('numero', input('numero', { type: 'number', min: 1, max: 99999999, value: receipt.numero, ...fixed })),
    field('codigo', select({ name: 'codigo' }, results, receipt.codigo)),
    field('mensaje', input('mensaje', { value: receipt.mensaje }), 'mensajeHint'))
}
