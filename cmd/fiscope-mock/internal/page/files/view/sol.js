// The SOL users, with their attempts and blocks. Their claves are written here and never shown.
import { announce, button, dialog, field, form, h, items, secret, table } from '../element.js'
import { get, put, remove, segments } from '../server.js'
import { number, t } from '../text.js'
import { momentText, remaining } from '../time.js'

export const id = 'sol'
export const title = 'sol'

const list = h('tbody', {})

export function make() {
  return h('div', {}, h('p', { class: 'hint' }, t('solMeans')),
    table(t('sol'), [['RUC'], [t('user')], [t('kind')], [t('attempts'), 'number'], [t('wrongInARow'), 'number'], [t('state')], [t('actions')]], list, { class: 'rows' }),
    h('h3', {}, t('addUser')),
    form(t('addUser'), async ({ ruc, usuario, clave, principal }, made) => {
      await put(`sol/${segments(ruc, usuario)}`, { clave, principal: principal === 'on' })
      made.reset()
      announce(t('saved'))
      await refresh()
    }, t('add'), h('div', { class: 'fields' },
      field('RUC', h('input', { name: 'ruc', required: true, pattern: '[0-9]{11}', inputmode: 'numeric', title: t('elevenDigits'), autocomplete: 'off' })),
      field(t('user'), h('input', { name: 'usuario', required: true, autocomplete: 'off', spellcheck: 'false' })),
      field('Clave SOL', secret('clave', { required: true }), t('writtenOnly')),
      h('label', { class: 'check' }, h('input', { type: 'checkbox', name: 'principal' }), t('principalUser')))))
}

export const refresh = async () => items(list, await get('sol'), (user) => `${user.ruc} ${user.usuario}`, row)

function row(user) {
  const { ruc, usuario } = user
  const path = `sol/${segments(ruc, usuario)}`
  const label = (what) => ({ 'aria-label': `${t(what)}: ${usuario}`, 'data-focus': what })
  const state = user.blocked
    ? [h('span', { class: 'mark sol' }, t('blockedUntil', { until: momentText(user.blockedUntil) })), ' ', h('small', { 'data-until': user.blockedUntil }, remaining(user.blockedUntil))]
    : user.principal ? t('alwaysRefused') : t('free')
  return h('tr', {}, h('th', { scope: 'row', class: 'fixed' }, ruc), h('td', { class: 'word' }, usuario), h('td', {}, t(user.principal ? 'principal' : 'secondary')),
    h('td', { class: 'number' }, number(user.attempts)), h('td', { class: 'number' }, number(user.fails)), h('td', {}, state),
    h('td', { class: 'actions' },
      button(t('unblock'), async () => {
        await remove(`${path}/block`)
        announce(t('unblocked', { usuario }))
        await refresh()
      }, { ...label('unblock'), disabled: !user.blocked && user.fails === 0 }),
      button(t('edit'), () => dialog(`${t('edit')}: ${usuario}`, async ({ clave, principal }) => {
        await put(path, { ...(clave && { clave }), principal: principal === 'on' })
        announce(t('saved'))
        await refresh()
      }, t('save'), field(t('newClave'), secret('clave'), t('keepClave')),
      h('label', { class: 'check' }, h('input', { type: 'checkbox', name: 'principal', checked: user.principal }), t('principalUser'))), label('edit')),
      button(t('delete'), async () => {
        await remove(path)
        await refresh()
      }, { ...label('delete'), class: 'destroys' })))
}
