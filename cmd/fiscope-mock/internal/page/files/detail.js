// One call, opened: why it ended so, what was asked and answered, and what can be done with it.
import { button, code, copy, h } from './element.js'
import { failed, parameters, parse, part } from './calls.js'
import { presets } from './preset.js'
import { post } from './server.js'
import { curl, goProgram } from './snippet.js'
import { state } from './state.js'
import { lastedText, number, t } from './text.js'
import { clockText, dayText } from './time.js'
import { statusText, why } from './why.js'
import { edit as addTaxpayer } from './view/contribuyentes.js'
import { edit as addReceipt } from './view/comprobantes.js'

const titleOf = (call) => `${t('call')} #${call.n} · ${call.op ?? t('unmatched')}`
const most = 10 // attempts that are linked
const strong = /^(X-RateLimit-|Retry-After:)/

// callDetail shows a call, with the attempts of its question that are known, each at its address.
export function callDetail(call, attempts, address, close) {
  const from = Math.max(0, Math.min(attempts.indexOf(call) - 5, attempts.length - most))
  const reasons = why(call, state.faults, state.assumptions, attempts[attempts.indexOf(call) - 1])
  const copies = { curl: () => curl(call, location.origin), Markdown: () => markdown(call, reasons), [t('link')]: () => location.href }
  return [
    h('header', {}, h('h2', {}, titleOf(call)), h('button', { type: 'button', onclick: close, 'aria-keyshortcuts': 'Escape' }, t('close'))),
    h('div', { class: 'why' }, reasons.map(([text, view]) =>
      h('p', {}, text, view && [' ', h('a', { href: `#${view}` }, t('goTo', { view: t(view) }))])),
    attempts.length > 1 && h('p', {}, t('attempts'), attempts.length > most && ` (${number(attempts.length)})`, ': ', attempts.slice(from, from + most).map((one) => [' ', h(one === call ? 'b' : 'a', { href: one !== call && address(one.n), class: failed(one) && 'bad' }, `#${one.n} ${statusText(one)}`)]))),
    h('div', { class: 'actions' }, offers(call), Object.entries(copies).map(([name, text]) =>
      button([`${t('copy')} ${name}`], () => copy(text(), name)))),
    facts(call),
    h('h3', {}, t('request')),
    code(requestText(call), t('request'), strong),
    h('h3', {}, t('answer')),
    code(answerText(call), t('answer'), strong),
    h('h3', {}, t('asCurl')),
    code(curl(call, location.origin), t('asCurl')),
    ...program(call),
  ]
}

const written = (name) => name.replace('Ratelimit', 'RateLimit').replace(/^X-Api-Key$/, 'X-API-KEY')

function message(begin, headers, body) {
  const lines = Object.entries(headers ?? {}).flatMap(([name, values]) => values.map((value) => `${written(name)}: ${value}`))
  return [begin, ...lines, ...body ? ['', pretty(body)] : []].join('\n')
}

const requestText = (call) => message(`${call.method} ${call.path}${call.query ? `?${call.query}` : ''}`, call.requestHeaders, call.body)
const answerText = (call) => message(statusText(call), call.responseHeaders, call.answer)

// markdown is a call for a ticket. It has no secret, since the journal has none.
function markdown(call, reasons) {
  const block = (name, text) => {
    const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([marks]) => marks.length + 1)))
    return `**${t(name)}**\n\n${fence}\n${text}\n${fence}\n`
  }
  return [`### ${titleOf(call)}\n`, `${reasons.map(([text]) => `- ${text}`).join('\n')}\n- ${dayText(Date.parse(call.time))}, ${clockText(call.time)}\n`,
    block('request', requestText(call)), block('answer', answerText(call)), block('asCurl', curl(call, location.origin))].join('\n')
}

// offers are the controls that put what was missed, and that make the next such call fail.
function offers(call) {
  if (!call.matched || !call.op) return []
  const match = { op: call.op, ruc: call.ruc, text: part(call) || undefined, key: call.key, times: 1 }
  const step = failed(call) && sameFailure(call)
  return [call.fault ? [] : missed(call), step
    ? button('failSo', async () => {
      const { name } = await post('faults', { match, steps: [step] })
      return t('faultSet', { name })
    }, { class: 'primary' })
    : h('a', { href: `#fallas?${new URLSearchParams(Object.entries(match).filter(([, value]) => value))}` }, t('failNext'))]
}

function missed(call) {
  if (call.status === 404 && call.op === 'consultar') {
    return button('addTaxpayer', () => addTaxpayer({ ruc: call.ruc }), { class: 'primary' })
  }
  if (call.status === 404 && call.op === 'tipocambio' && !/feriado|sábado|domingo/.test(call.answer)) {
    return h('a', { href: `#tipocambio/${parameters(call).fecha ?? call.time.slice(0, 10)}` }, t('setRate'))
  }
  return parse(call.answer)?.codigo === '98' && button('addReceipt', () => addReceipt({ ...parse(call.body), codigo: '0' }), { class: 'primary' })
}

// sameFailure is the step of a fault that fails as a call did; null if nobody knows it.
function sameFailure(call) {
  const known = state.faults.find(({ name }) => name === call.fault)?.steps
  if (known?.length === 1) return known[0]
  const preset = presets.find(({ name, step }) => !step && name === call.fault?.replace(/-\d+$/, ''))?.name
  if (preset) return { preset }
  if (call.status < 300) return null
  const kept = ['Content-Type', 'Retry-After', 'Location'].filter((name) => call.responseHeaders?.[name])
  return { status: call.status, header: Object.fromEntries(kept.map((name) => [name, call.responseHeaders[name][0]])), body: call.answer ?? '' }
}

function program(call) {
  const text = goProgram(call, location.origin)
  return text ? [h('h3', {}, t('asGo')), code(text, t('asGo'))] : []
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
    [t('lasted'), call.ms === undefined ? '' : lastedText(call.ms)],
    [t('cost'), number(call.cost)],
    [t('left'), call.matched && call.left >= 0 ? number(call.left) : ''],
    [t('key'), call.key],
    [t('connection'), call.conn && `${call.conn}, ${t(call.reused ? 'reused' : 'fresh')}`],
  ]
  return h('dl', {}, list.filter(([, value]) => value).map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))))
}
