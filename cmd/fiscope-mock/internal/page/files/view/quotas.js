// What each key has left of its day, and the keys themselves: by their fingerprints, never as they are.
import { buttons, field, form, h, input, items, secret } from '../element.js'
import { get, post, put, remove, segments } from '../server.js'
import { number, t } from '../text.js'
import { momentText, remaining } from '../time.js'

export const id = 'cuotas'

const unlimited = -1
const cards = h('div', { class: 'cards' })
const limitInput = (name, properties) => input(name, { type: 'number', min: unlimited, ...properties })

export const make = () => [cards, h('h3', {}, t('addKey')), form('addKey',
  ({ key, quota }) => post('keys', quota === '' ? { key } : { key, quota: Number(quota) }), 'add', h('div', { class: 'fields' },
    field('key', secret('key', { required: true }), 'writtenOnly'),
    field('dailyQuota', limitInput('quota'), 'quotaHint')))]

export async function refresh() {
  const [quotas, keys] = await Promise.all([get('quotas'), get('keys')])
  const own = keys.find((key) => key.own)?.key
  items(cards, quotas.map((quota) => ({ ...quota, own: quota.key === own })), (quota) => quota.key, card)
}

function card({ key, limit, used, remaining: left, reset, own }) {
  const set = (change) => put(`quotas/${segments(key)}`, change)
  const free = limit === unlimited
  const of = free ? t('unlimited') : number(limit)
  return h('article', { class: 'card quiet', 'aria-label': `${t('key')} ${key}` },
    h('header', {}, h('h3', {}, key), own && h('span', { class: 'mark' }, t('ownKeyMark'))),
    h('p', { class: 'figure' }, h('b', {}, number(used)), ` / ${of}`, h('span', { class: 'hint' }, free ? '' : t('remain', { n: number(left) }))),
    h('progress', { max: free ? 1 : Math.max(limit, 1), value: free ? 0 : Math.min(used, limit), class: left === 0 && 'spent', 'aria-label': t('usedOf', { used: number(used), of }) }),
    h('p', { class: 'hint' }, free ? '' : [t('resetsIn'), ' ', h('span', { 'data-until': reset }, remaining(reset)), ` (${momentText(reset)})`]),
    h('p', {}, h('a', { href: `#llamadas?respuesta=cost&texto=${key}`, 'aria-label': `${t('whatSpent')}: ${key}` }, t('whatSpent'))),
    h('div', { class: 'actions' }, buttons(key,
      ['leave1', () => set({ used: limit - 1 }), { disabled: limit < 1 }],
      ['refill', () => set({ used: 0 })],
      ['deleteKey', () => remove(`keys/${segments(key)}`)])),
    form(`${t('dailyQuota')}: ${key}`, ({ limit }) => set({ limit: Number(limit) }), t('change'),
      field('dailyQuota', limitInput('limit', { value: limit, required: true }))))
}
