// Why a call ended as it did and what it cost, in plain words.
import { parse, spoilt, underWay } from './calls.js'
import { lastedText, t } from './text.js'
import { presetText, stepText } from './preset.js'

// why says it in sentences, each with the view that it leads to; before is the attempt before.
export function why(call, faults, assumptions, before) {
  return [...outcome(call, faults, assumptions), ...repeated(call, before), [cost(call)]].filter(([text]) => text)
}

// attemptText says which attempt a call is, and how long after the answer to the one before it came.
export function attemptText(call, before) {
  if (!(call.attempt > 1)) return ''
  const wait = before ? Date.parse(call.time) - Date.parse(before.time) - (before.ms ?? 0) : 0
  return t(call.retryOf ? 'attemptOf' : 'attempt', { n: call.attempt, first: call.retryOf }) + (wait > 0 ? t('attemptAfter', { lasted: lastedText(wait) }) : '')
}

// meanings are what an answer says that a program should not overlook: NO HABIDO, Anulado.
export function meanings(call) {
  const said = call.status === 200 ? parse(call.answer) : null
  const unusual = (...pairs) => pairs.filter(([value, usual]) => value && value !== usual).map(([value]) => String(value))
  if (call.op === 'buscar') return said?.length === 0 ? [t('nothingFound')] : []
  return unusual(...call.op === 'validar' ? [[said?.estado, 'Aceptado']] : [[said?.condicion, 'HABIDO'], [said?.estado, 'ACTIVO']])
}

function outcome(call, faults, assumptions) {
  const said = parse(call.answer) ?? {}
  const quote = typeof said.error === 'string' ? [[t('whyServerSaid', { text: said.error })]] : []
  const fault = call.fault ? [[faultText(call, faults), 'fallas']] : []
  if (underWay(call)) return [[t('whyUnderWay')], ...fault]
  if (call.status === 0) return [[t('whyNoAnswer')], ...fault]
  if (!call.matched && call.status !== 401 && !call.op) return [[t('whyNoRoute')], ...quote]
  if (!call.matched) return [[t(call.key ? 'whyUnknownKey' : 'whyNoKey'), 'cuotas'], ...quote]
  if (call.sol && call.sol !== 'accepted') return [...sol(call, assumptions), ...fault, ...quote]
  if (spoilt(call)) return [...fault, [t(call.broken ? 'whyBroken' : 'whyFalse')]]
  if (call.status < 300) return [...fault, fault.length && call.op !== 'validar' ? [''] : success(call, said)]
  if (fault.length) return [...fault, ...quote]
  return [reason(call), ...quote]
}

function reason({ op, status, cost, left }) {
  if (cost === 0 && left === 0 && ![400, 404, 500].includes(status)) return [t('whyQuota'), 'cuotas']
  if (status === 404 && op === 'consultar') return [t('whyNoTaxpayer'), 'contribuyentes']
  if (status === 404 && op === 'tipocambio') return [t('whyNoRate'), 'tipocambio']
  if (status === 500 && op === 'validar') return [t('whySUNATDown'), 'fallas']
  return [t(status < 500 ? 'whyInvalid' : 'whyFailed')]
}

function sol(call, assumptions) {
  const [, fails, allowed] = /fallido (\d+) de (\d+)/.exec(call.answer) ?? []
  const [, until] = /bloqueado .*?hasta el (\S+ \S+)/.exec(call.answer) ?? []
  const lasts = durationText(assumptions.find(({ name }) => name === 'BlockFor')?.value ?? '')
  const more = { wrong: (until && 'Last') || (fails && 'Count'), blocked: until && 'Until' }[call.sol] ?? ''
  return [[t(`whySOL_${call.sol}${more}`, { fails, allowed, lasts, until }) || call.sol, 'sol']]
}

const durationText = (text) => text.replace(/(?<!\d)0[ms]/g, '').replace('h', ' h ').replace('m', ' min ').trim()

function success({ op, answer = '' }, { estado, esValido, mensaje }) {
  if (op === 'validar' && estado) return [t(esValido ? 'whyValid' : 'whyNotValid', { estado, mensaje }), !esValido && 'comprobantes']
  return [t(op === 'buscar' && answer.trim() === '[]' ? 'whyNothingFound' : 'whyFine')]
}

function faultText({ fault }, faults) {
  const steps = faults.find(({ name }) => name === fault)?.steps ?? []
  const what = steps.length === 1 ? stepText(steps[0]) : presetText(fault.replace(/-\d+$/, ''))
  return t('whyFault', { name: fault, what: what && `: ${what}` })
}

function repeated(call, before) {
  const attempt = attemptText(call, before)
  return [[attempt && t('whyAttempt', { attempt })], [call.replay ? t('whyReplay', { n: call.replay }) : '']]
}

function cost(call) {
  if (!call.matched) return t('costNothing')
  if (call.cost === 0) return t(underWay(call) ? '' : 'costNothing')
  return call.left >= 0 ? t('costOneLeft', { left: call.left }) : t('costOne')
}
