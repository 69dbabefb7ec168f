// Why a call ended as it did and what it cost, in plain words.
import { answeredByService, parse, spoilt, underWay } from './calls.js'
import { lastedText, t } from './text.js'
import { presetText, stepText } from './preset.js'

// why says it in sentences, each with the view that it leads to; before is the attempt before.
export function why(call, faults, assumptions, before) {
  const service = answeredByService(call)
  return [...outcome(call, faults, assumptions), [service ? t(service === 'strange' ? 'whyStrange' : 'whyReal') : ''], ...repeated(call, before), [cost(call)]].filter(([text]) => text)
}

export const statusText = (call) => call.status || t(underWay(call) ? 'underWay' : 'noAnswer')

const isNumbered = (call) => Boolean(call.requestHeaders?.['Fiscope-Attempt'])

// attemptText says which attempt a call is if its client numbers them, else which call it repeats, and how much later.
export function attemptText(call, before) {
  if (!(call.attempt > 1)) return ''
  const wait = before ? Date.parse(call.time) - Date.parse(before.time) - (before.ms ?? 0) : 0
  const what = isNumbered(call) ? t(call.retryOf ? 'attemptOf' : 'attempt', { n: call.attempt, first: call.retryOf }) : t('repeats', { n: before?.n ?? call.retryOf })
  return what + (wait > 0 ? t('attemptAfter', { lasted: lastedText(wait).replace('.0 ', ' ') }) : '')
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
  if (!call.matched && (call.code === 'MOCK_METHOD' || call.status !== 401 && !call.op)) return [[t('whyNoRoute')], ...quote]
  if (call.code === 'MOCK_NOT_RECORDED') return [[t('whyNotRecorded')], ...quote]
  if (!call.matched) return [[t(call.key ? 'whyUnknownKey' : 'whyNoKey'), 'cuotas'], ...quote]
  if (call.sol && call.sol !== 'accepted') return [...sol(call, assumptions), ...fault, ...quote]
  if (spoilt(call)) return [...fault, [t(call.broken ? 'whyBroken' : 'whyFalse')]]
  if (call.status < 300) return [...fault, fault.length && call.op !== 'validar' ? [''] : success(call, said)]
  const made = stepsOf(call, faults).some(({ status }) => status) // by the fault, and not the server's own
  if (fault.length) return [[made ? '' : refused(call, said)], ...fault, ...quote]
  return [reason(call, said), ...quote]
}

function reason(call, said) {
  const { op, status, cost, left } = call
  if (cost === 0 && left === 0 && ![400, 404, 500].includes(status)) return [t('whyQuota'), 'cuotas']
  if (status === 404 && op === 'consultar') return [t('whyNoTaxpayer'), 'contribuyentes']
  if (status === 404 && op === 'tipocambio') return [t('whyNoRate'), 'tipocambio']
  if (status === 500 && op === 'validar') return [t('whySUNATDown'), 'fallas']
  return [status < 500 ? refused(call, said) || t('whyInvalid') : t('whyFailed')]
}

const fields = /\b(RUC|ruc(Emisor|Solicitante)|tipoComprobante|serie|numero|(usuario|clave)Sol|razonSocial|limit|fecha)\b/g

// refused says which field broke which rule, by the names in the text of the mock's own refusal; "" if it has none.
function refused({ status, code = '' }, { error }) {
  const names = [...new Set(String(error).match(fields))].join(', ')
  if (![400, 413, 415].includes(status)) return ''
  if (code.startsWith('MOCK_')) return t(`why${code}`, { names })
  if (!names || !/docs\/contract\.md/.test(error)) return '' // a real service has rules and texts of its own
  if (/^falta|está vacío/.test(error)) return t('whyMissing', { names })
  if (/tipo equivocado/.test(error)) return t('whyWrongType', { names })
  return t('whyInvalidField', { names, rule: t(`rule_${names.replace(/^ruc.*/, 'RUC')}`) })
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

const stepsOf = ({ fault }, faults) => faults.find(({ name }) => name === fault)?.steps ?? []

function faultText(call, faults) {
  const { fault } = call
  const steps = stepsOf(call, faults)
  const what = steps.length === 1 ? stepText(steps[0]) : presetText(fault.replace(/-\d+$/, ''))
  return t('whyFault', { name: fault, what: what && `: ${what}` })
}

function repeated(call, before) {
  const attempt = attemptText(call, before)
  return [[attempt && t(isNumbered(call) ? 'whyAttempt' : 'whyRepeats', { attempt })], [call.replay ? t('whyReplay', { n: call.replay }) : '']]
}

function cost(call) {
  if (!call.matched) return t('costNothing')
  if (call.cost === 0) return t(underWay(call) ? '' : 'costNothing')
  return call.left >= 0 ? t('costOneLeft', { left: call.left }) : t('costOne')
}
