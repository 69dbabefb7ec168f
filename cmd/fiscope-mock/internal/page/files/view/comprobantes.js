// The receipts that SUNAT knows, and what it says of each.
import { announce, button, dialog, field, h, items, select, table } from '../element.js'
import { get, put, remove, segments } from '../server.js'
import { t } from '../text.js'

export const id = 'comprobantes'
export const title = 'comprobantes'

const most = 200
const kinds = ['01', '03', '07', '08']
const codes = ['0', '2', '4', '98', '99']

const list = h('tbody', {})
const found = h('p', { class: 'hint', role: 'status' })
const issuer = h('input', { type: 'search', inputmode: 'numeric', autocomplete: 'off', maxlength: 11, placeholder: t('all'), oninput: () => refresh().catch(() => {}) })

export function make() {
  return h('div', {}, h('div', { class: 'bar' }, field(t('issuer'), issuer),
    h('div', { class: 'actions' }, button(t('addReceipt'), () => edit()))), found,
  table(t('comprobantes'), [['rucEmisor'], [t('kind')], [t('serieNumero')], [t('result')], ['mensaje'], [t('actions')]], list, { class: 'rows' }))
}

export async function refresh() {
  const ruc = issuer.value.trim()
  const receipts = await get(`comprobantes?limit=${most}${ruc.length === 11 ? `&ruc=${segments(ruc)}` : ''}`)
  const shown = receipts.filter((receipt) => receipt.rucEmisor.startsWith(ruc))
  items(list, shown, nameOf, row)
  found.textContent = t(shown.length === 1 ? 'found1' : 'found', { n: shown.length })
}

const nameOf = (receipt) => `${receipt.rucEmisor}-${receipt.tipoComprobante}-${receipt.serie}-${receipt.numero}`
const pathOf = (receipt) => `comprobantes/${segments(receipt.rucEmisor, receipt.tipoComprobante, receipt.serie, String(receipt.numero))}`

function row(receipt) {
  const name = nameOf(receipt)
  return h('tr', {}, h('th', { scope: 'row', class: 'fixed' }, receipt.rucEmisor), h('td', { class: 'fixed' }, `${receipt.tipoComprobante} ${t(`kind${receipt.tipoComprobante}`)}`),
    h('td', { class: 'word' }, `${receipt.serie}-${receipt.numero}`),
    h('td', { class: 'fixed' }, `${receipt.codigo} ${t(`codigo${receipt.codigo}`)}`), h('td', { class: 'word' }, receipt.mensaje),
    h('td', { class: 'actions' },
      button(t('edit'), () => edit(receipt), { 'aria-label': `${t('edit')}: ${name}`, 'data-focus': 'edit' }),
      button(t('delete'), async () => {
        await remove(pathOf(receipt))
        announce(t('deleted', { name }))
        await refresh()
      }, { 'aria-label': `${t('delete')}: ${name}`, 'data-focus': 'delete', class: 'destroys' })))
}

function edit(receipt) {
  const fixed = { readonly: Boolean(receipt), required: true, autocomplete: 'off' }
  dialog(receipt ? `${t('edit')}: ${nameOf(receipt)}` : t('addReceipt'), async ({ codigo, mensaje, ...values }) => {
    const named = receipt ?? { ...values, serie: values.serie.trim() }
    await put(pathOf(named), { codigo, mensaje })
    announce(t('saved'))
    await refresh()
  }, t('save'),
  field('rucEmisor', h('input', { name: 'rucEmisor', value: receipt?.rucEmisor, pattern: '[0-9]{11}', inputmode: 'numeric', title: t('elevenDigits'), ...fixed })),
  field('tipoComprobante', select({ name: 'tipoComprobante', disabled: Boolean(receipt) }, kinds.map((kind) => [kind, `${kind} ${t(`kind${kind}`)}`]), receipt?.tipoComprobante)),
  field('serie', h('input', { name: 'serie', value: receipt?.serie, placeholder: receipt ? null : 'F001', ...fixed })),
  field('numero', h('input', { type: 'number', name: 'numero', min: 1, step: 1, value: receipt?.numero, ...fixed })),
  field('codigo', select({ name: 'codigo' }, codes.map((code) => [code, `${code} ${t(`codigo${code}`)}`]), receipt?.codigo)),
  field('mensaje', h('input', { name: 'mensaje', value: receipt?.mensaje, autocomplete: 'off' }), t('mensajeHint')))
}
