// What the page says before the first call: the line that makes it.
import { code, h } from './element.js'
import { t } from './text.js'

export function emptyState(defaultKey) {
  const key = defaultKey ? 'X-API-KEY: clave-de-prueba' : 'X-API-KEY: $FISCOPE_API_KEY'
  return h('div', { class: 'empty' }, h('h2', {}, t('noCalls')), h('p', {}, t('firstCall')),
    code(`curl -H "${key}" ${location.origin}/api/contribuyentes/20131312955`, t('firstCallName')),
    !defaultKey && h('p', { class: 'hint' }, t('ownKey')),
    h('p', { class: 'hint' }, t('noCallsGo')))
}
