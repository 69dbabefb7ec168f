// The SOL users, with their attempts and blocks. Their claves are written here and never shown.
import { buttons, cell, checkbox, dialog, field, form, h, head, input, items, rucInput, secret, table } from '../element.js'
import { get, put, remove, segments } from '../server.js'
import { assumed } from '../state.js'
import { number, t } from '../text.js'
import { momentText, remaining } from '../time.js'

export const id = 'sol'

const list = h('tbody')
const means = h('p', { class: 'hint' })
const pathOf = ({ ruc, usuario }) => `sol/${segments(ruc, usuario)}`

export const make = () => [means,
  table('sol', ['RUC', 'user', 'kind', 'attempts number', 'wrongInARow number', 'state', 'action'], list),
  h('h3', {}, t('addUser')),
  form('addUser', ({ clave, principal, ...user }) => put(pathOf(user), { clave, principal: principal === 'on' }), t('add'),
    h('div', { class: 'fields' }, field('RUC', rucInput('ruc')), field('user', input('usuario', { required: true })),
      field('Clave SOL', secret('clave', { required: true }), 'writtenOnly'), checkbox('principal', t('principalUser'))))]

export async function refresh() {
  items(list, await get('sol'), pathOf, row)
  means.textContent = t(assumed('BlockAfter') === '0' ? 'solNever' : 'solMeans', { n: assumed('BlockAfter') })
}

function row(user) {
  const { ruc, usuario, principal, attempts, fails, blocked, blockedUntil } = user
  const state = blocked
    ? [h('span', { class: 'mark bad' }, t('blockedUntil', { until: momentText(blockedUntil) })), ' ', h('small', { 'data-until': blockedUntil }, remaining(blockedUntil))]
    : t(principal ? 'alwaysRefused' : 'free')
  return h('tr', {}, head('fixed', ruc), cell('word', usuario), cell('fixed', t(principal ? 'principal' : 'secondary')),
    cell('number', number(attempts)), cell('number', number(fails)), cell('', state),
    cell('actions', buttons(usuario,
      ['unblock', () => remove(`${pathOf(user)}/block`), { disabled: !blocked && fails === 0 }],
      ['edit', () => dialog(`${t('edit')}: ${usuario}`, ({ clave, principal }) => put(pathOf(user), { clave: clave || undefined, principal: principal === 'on' }),
        field('newClave', secret('clave'), 'keepClave'), checkbox('principal', t('principalUser'), principal))],
      ['delete', () => remove(pathOf(user))])))
}
