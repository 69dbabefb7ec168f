// The SOL users, with their attempts and blocks. Their claves are written here and never shown.
import { buttons, checkbox, dialog, field, form, h, input, items, rucInput, secret, table } from '../element.js'
import { get, put, remove, segments } from '../server.js'
import { number, t } from '../text.js'
import { momentText, remaining } from '../time.js'

export const id = 'sol'
export const title = 'sol'

const list = h('tbody')
const pathOf = ({ ruc, usuario }) => `sol/${segments(ruc, usuario)}`

export const make = () => [h('p', { class: 'hint' }, t('solMeans')),
  table(t('sol'), [['RUC'], [t('user')], [t('kind')], [t('attempts'), 'number'], [t('wrongInARow'), 'number'], [t('state')], [t('actions')]], list),
  h('h3', {}, t('addUser')),
  form(t('addUser'), ({ clave, principal, ...user }) => put(pathOf(user), { clave, principal: principal === 'on' }), t('add'),
    h('div', { class: 'fields' }, field('RUC', rucInput('ruc')), field(t('user'), input('usuario', { required: true })),
      field('Clave SOL', secret('clave', { required: true }), t('writtenOnly')), checkbox('principal', t('principalUser'))))]

export const refresh = async () => items(list, await get('sol'), pathOf, row)

function row(user) {
  const { ruc, usuario, principal, attempts, fails, blocked, blockedUntil } = user
  const state = blocked
    ? [h('span', { class: 'mark sol' }, t('blockedUntil', { until: momentText(blockedUntil) })), ' ', h('small', { 'data-until': blockedUntil }, remaining(blockedUntil))]
    : t(principal ? 'alwaysRefused' : 'free')
  return h('tr', {}, h('th', { scope: 'row', class: 'fixed' }, ruc), h('td', { class: 'word' }, usuario), h('td', {}, t(principal ? 'principal' : 'secondary')),
    h('td', { class: 'number' }, number(attempts)), h('td', { class: 'number' }, number(fails)), h('td', {}, state),
    h('td', { class: 'actions' }, buttons(usuario,
      ['unblock', () => remove(`${pathOf(user)}/block`), { disabled: !blocked && fails === 0 }],
      ['edit', () => dialog(`${t('edit')}: ${usuario}`, ({ clave, principal }) => put(pathOf(user), { clave: clave || undefined, principal: principal === 'on' }),
        field(t('newClave'), secret('clave'), t('keepClave')), checkbox('principal', t('principalUser'), principal))],
      ['delete', () => remove(pathOf(user))])))
}
