// The time that the server believes it is, and moving it.
import { announce, button, field, form, h } from '../element.js'
import { post, put } from '../server.js'
import { t } from '../text.js'
import { atLima, frozen, limaDate, limaTime, longDayText, now, onTick, readClock, secondsText, setClock } from '../time.js'

export const id = 'reloj'
export const title = 'clock'
export const refresh = readClock

export function make() {
  const time = h('p', { class: 'clock' })
  const date = h('p', {})
  const stands = h('p', { class: 'hint' })
  const freeze = button('', () => change({ frozen: !frozen() }))
  onTick(() => {
    time.textContent = secondsText(now())
    date.textContent = longDayText(now())
    stands.textContent = t(frozen() ? 'clockFrozen' : 'clockRuns')
    freeze.textContent = t(frozen() ? 'unfreeze' : 'freeze')
  })
  const at = h('input', { type: 'datetime-local', name: 'at', step: 1, required: true, min: '1970-01-02T00:00', max: '8999-12-31T00:00', value: limaTime(now()) })
  return h('div', {}, h('div', { class: 'card wide', 'aria-label': t('clock'), role: 'group' }, time, date, stands,
    h('div', { class: 'actions' },
      button('16:59', () => change({ now: `${limaDate(now())}T16:59:00-05:00` }), { 'aria-label': t('set1659') }),
      button(t('plus1h'), () => advance('1h')),
      button(t('plus1d'), () => advance('24h')),
      freeze,
      button(t('resetClock'), async () => {
        await post('reset', { parts: ['clock'] })
        await readClock()
      }, { class: 'destroys' })),
    form(t('setTime'), ({ at }) => change({ now: atLima(at) }), t('setTime'), field(t('timeInLima'), at))),
  h('p', { class: 'hint' }, t('clockMeans')))
}

async function change(to) {
  setClock(await put('clock', to))
  announce(`${t('serverTime')}: ${secondsText(now())}`)
}

const advance = async (by) => setClock(await post('clock/advance', { by }))
