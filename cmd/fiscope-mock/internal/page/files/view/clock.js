// The time that the server believes it is, and moving it.
import { button, field, form, h, input } from '../element.js'
import { post, put } from '../server.js'
import { t } from '../text.js'
import { frozen, limaDate, limaTime, longDayText, now, onTick, secondsText, setClock } from '../time.js'

export const id = 'reloj'

export function make() {
  const time = h('p', { class: 'clock' })
  const date = h('p')
  const stands = h('p', { class: 'hint' })
  const freeze = button('', () => change({ frozen: !frozen() }))
  onTick(() => {
    time.textContent = secondsText(now())
    date.textContent = longDayText(now())
    stands.textContent = t(frozen() ? 'clockFrozen' : 'clockRuns')
    freeze.textContent = t(frozen() ? 'unfreeze' : 'freeze')
  })
  const at = input('at', { type: 'datetime-local', step: 1, required: true, min: '1970-01-02T00:00', max: '8999-12-31T00:00', value: limaTime(now()) })
  return [h('div', { class: 'card wide' }, time, date, stands,
    h('div', { class: 'actions' },
      button('16:59', () => change({ now: `${limaDate(now())}T16:59:00-05:00` })), button('+1 h', () => advance('1h')),
      button('plus1d', () => advance('24h')), freeze,
      button('resetClock', () => post('reset', { parts: ['clock'] }), { class: 'destroys' })),
    form('setTime', ({ at }) => change({ now: `${at.length === 16 ? `${at}:00` : at}-05:00` }), 'setTime', field('timeInLima', at))),
  h('p', { class: 'hint' }, t('clockMeans'))]
}

const change = async (to) => setClock(await put('clock', to))
const advance = async (by) => setClock(await post('clock/advance', { by }))
