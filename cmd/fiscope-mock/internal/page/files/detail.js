// One call, opened: why it ended so, what was asked and answered, and how to make it again.
import { code, h } from './element.js'
import { parse } from './calls.js'
import { curl, goProgram } from './snippet.js'
import { state } from './state.js'
import { number, t } from './text.js'
import { clockText, dayText } from './time.js'
import { why } from './why.js'

export function callDetail(call, close) {
  const name = `${t('call')} #${call.n}`
  return [
    h('header', {}, h('h2', {}, `${name} · ${call.op ?? t('unmatched')}`),
      h('button', { type: 'button', onclick: close, 'aria-keyshortcuts': 'Escape' }, t('close'))),
    h('div', { class: 'why' }, why(call, state.faults, state.assumptions).map(([text, view]) =>
      h('p', {}, text, view && [' ', h('a', { href: `#${view}` }, t('goTo', { view: t(view) }))]))),
    facts(call),
    h('h3', {}, t('request')),
    code(`${call.method} ${call.path}${call.query ? `?${call.query}` : ''}${call.body ? `\n\n${pretty(call.body)}` : ''}`, t('request')),
    h('h3', {}, t('answer')),
    code([call.status || t('noAnswer'), call.answer && `\n\n${pretty(call.answer)}`].filter(Boolean).join(''), t('answer')),
    h('h3', {}, t('asCurl')),
    code(curl(call, location.origin), t('asCurl')),
    ...program(call),
  ]
}

function program(call) {
  const text = goProgram(call, location.origin)
  return [h('h3', {}, t('asGo')), text ? code(text, t('asGo')) : h('p', { class: 'hint' }, t('noGo'))]
}

// pretty indents what is JSON, and leaves its numbers as they are written: 3.750 stays 3.750.
export function pretty(text) {
  if (parse(text) === null) return text
  let line = '\n'
  return text.replace(/("(?:[^"\\]|\\.)*")|\s+|[{[](?!\s*[}\]])|(?<![{[]\s*)[}\]]|[,:]/g, (part, string) => {
    if (string) return string
    if ('{['.includes(part)) return part + (line += '  ')
    if ('}]'.includes(part)) return (line = line.slice(0, -2)) + part
    return { ',': `,${line}`, ':': ': ' }[part] ?? ''
  })
}

function facts(call) {
  const list = [
    [t('time'), `${dayText(Date.parse(call.time))}, ${clockText(call.time)}`],
    [t('lasted'), call.ms === undefined ? '' : `${call.ms.toFixed(call.ms < 10 ? 2 : 0)} ms`],
    [t('cost'), number(call.cost)],
    [t('left'), call.matched && call.left >= 0 ? number(call.left) : ''],
    [t('key'), call.key],
    [t('connection'), call.conn && `${call.conn}, ${t(call.reused ? 'reused' : 'fresh')}`],
    ['User-Agent', call.userAgent],
  ]
  return h('dl', {}, list.filter(([, value]) => value).map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))))
}
