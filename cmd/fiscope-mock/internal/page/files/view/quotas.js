// What each key has left of its day, and the keys themselves: by their fingerprints, never as they are.
import { announce, button, field, form, h, items, secret } from '../element.js'
import { get, post, put, remove, segments } from '../server.js'
import { number, t } from '../text.js'
import { momentText, remaining } from '../time.js'

export const id = 'cuotas'
export const title = 'quotas'

const unlimited = -1
const cards = h('div', { class: 'cards' })

export function make() {
  return h('div', {}, cards, h('h3', {}, t('addKey')),
    form(t('addKey'), async ({ key, quota }, made) => {
      await post('keys', quota === '' ? { key } : { key, quota: Number(quota) })
      made.reset()
      announce(t('keyAdded'))
      await refresh()
    }, t('add'), h('div', { class: 'fields' },
      field(t('apiKey'), secret('key', { required: true }), t('writtenOnly')),
      field(t('dailyQuota'), h('input', { type: 'number', name: 'quota', min: unlimited, step: 1, inputmode: 'numeric' }), t('quotaHint')))))
}

export async function refresh() {
  const [quotas, keys] = await Promise.all([get('quotas'), get('keys')])
  const own = new Set(keys.filter((key) => key.own).map(({ key }) => key))
  items(cards, quotas.map((quota) => ({ ...quota, own: own.has(quota.key) })), (quota) => quota.key, card)
}

function card(quota) {
  const { key, limit, used } = quota
  const set = async (change) => {
    await put(`quotas/${segments(key)}`, change)
    await refresh()
  }
  const free = limit === unlimited
  const name = (what) => ({ 'aria-label': `${t(what)}: ${key}`, 'data-focus': what })
  return h('article', { class: 'card quiet', 'aria-label': `${t('key')} ${key}` },
    h('header', {}, h('h3', {}, key), quota.own && h('span', { class: 'mark' }, t('ownKeyMark'))),
    h('p', { class: 'figure' }, h('b', {}, number(used)), ` / ${free ? t('unlimited') : number(limit)}`,
      h('span', { class: 'hint' }, free ? '' : t('remain', { n: number(quota.remaining) }))),
    h('progress', { max: free ? 1 : Math.max(limit, 1), value: free ? 0 : Math.min(used, Math.max(limit, 1)), class: !free && quota.remaining === 0 ? 'spent' : null,
      'aria-label': t('usedOf', { used: number(used), limit: free ? t('unlimited') : number(limit) }) }),
    h('p', { class: 'hint' }, free ? t('neverRefused') : [t('resetsIn'), ' ', h('span', { 'data-until': quota.reset }, remaining(quota.reset)), ` (${momentText(quota.reset)})`]),
    h('div', { class: 'actions' },
      button(t('leave1'), () => set({ used: limit - 1 }), { ...name('leave1'), disabled: free || limit < 1 }),
      button(t('refill'), () => set({ used: 0 }), name('refill')),
      button(t('deleteKey'), async () => {
        await remove(`keys/${segments(key)}`)
        await refresh()
      }, { ...name('deleteKey'), class: 'destroys' })),
    form(`${t('dailyQuota')}: ${key}`, async (values) => set({ limit: Number(values.limit) }), t('setLimit'),
      field(t('dailyQuota'), h('input', { type: 'number', name: 'limit', value: limit, min: unlimited, step: 1, required: true, inputmode: 'numeric', 'data-focus': 'limit' }))))
}
