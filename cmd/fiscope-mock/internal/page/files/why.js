// Why a call ended as it did and what it cost, in plain words.
import { parse, underWay } from './calls.js'
import { t } from './text.js'
import { presetText } from './preset.js'

export function why(call, faults, assumptions) {
  return [...outcome(call, faults, assumptions), ...repeated(call), [cost(call)]].filter(([text]) => text)
}

function outcome(call, faults, assumptions) {
  const said = parse(call.answer) ?? {}
  const told = typeof said.error === 'string' ? [[t('whyServerSaid', { text: said.error })]] : []
  const fault = call.fault ? [[faultText(call, faults), 'fallas']] : []
  if (underWay(call)) return [[t('whyUnderWay')], ...fault]
  if (call.status === 0) return [[t('whyNoAnswer')], ...fault]
  if (!call.matched && call.status !== 401 && !call.op) return [[t('whyNoRoute')], ...told]
  if (!call.matched) return [[t(call.key ? 'whyUnknownKey' : 'whyNoKey'), 'cuotas'], ...told]
  if (call.sol && call.sol !== 'accepted') return [...sol(call, assumptions), ...fault, ...told]
  if (call.status < 300) return [success(call, said), ...fault]
  if (fault.length) return [...fault, ...told]
  return [reason(call), ...told]
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
  const sentence = {
    wrong: () => {
      if (until) return t('whySOLNowBlocked', { until })
      if (fails) return t('whySOLWrongCount', { fails, allowed, lasts })
      return t('whySOLWrong')
    },
    blocked: () => t('whySOLBlocked', { until: until ?? '…' }),
    unknown: () => t('whySOLUnknown'),
    principal: () => t('whySOLPrincipal'),
  }[call.sol]
  return [[sentence?.() ?? call.sol, 'sol']]
}

const durationText = (text) => text.replace(/(?<!\d)0[ms]/g, '').replace('h', ' h ').replace('m', ' min ').trim()

function success({ op, answer = '' }, { estado, esValido, mensaje }) {
  if (op === 'validar' && estado) return [t(esValido ? 'whyValid' : 'whyNotValid', { estado, mensaje }), !esValido && 'comprobantes']
  return [t(op === 'buscar' && answer.trim() === '[]' ? 'whyNothingFound' : 'whyFine')]
}

function faultText({ fault }, faults) {
  const preset = faults.find(({ name }) => name === fault)?.steps[0].preset ?? fault.replace(/-\d+$/, '')
  const what = presetText(preset)
  return t(what ? 'whyFaultWhat' : 'whyFault', { name: fault, what })
}

function repeated(call) {
  return call.replay ? [[t('whyReplay', { n: call.replay })]] : []
}

function cost(call) {
  if (!call.matched) return t('costNothing')
  if (call.cost === 0) return t(underWay(call) ? '' : 'costNothing')
  return call.left >= 0 ? t('costOneLeft', { left: call.left }) : t('costOne')
}
