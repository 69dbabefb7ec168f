// Why a call ended as it did and what it cost, in plain words, for whoever has not read the contract.
import { parse, underWay } from './calls.js'
import { t } from './text.js'
import { presetText } from './preset.js'

// why returns sentences: [text, the view to go to, or undefined].
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
  const [, fails, allowed] = /(\d+) de (\d+)/.exec(parse(call.answer)?.error ?? '') ?? []
  const until = /bloqueado (?:.*?)hasta el (\S+ \S+)/.exec(parse(call.answer)?.error ?? '')?.[1]
  const limits = Object.fromEntries(assumptions.map(({ name, value }) => [name, value]))
  const sentence = {
    wrong: () => {
      if (until) return t('whySOLNowBlocked', { until })
      if (fails) return t('whySOLWrongCount', { fails, allowed, lasts: durationText(limits.BlockFor ?? '') })
      return t('whySOLWrong')
    },
    blocked: () => t('whySOLBlocked', { until: until ?? '…' }),
    unknown: () => t('whySOLUnknown'),
    principal: () => t('whySOLPrincipal'),
  }[call.sol]
  return [[sentence?.() ?? call.sol, 'sol']]
}

// durationText writes a duration of Go: "30m0s" is 30 min.
export const durationText = (text) => text.replace(/(?<=\D)0s$/, '').replace(/(?<=\D)0m$/, '').replace(/h/, ' h ').replace(/m(?!s)/, ' min ').replace(/s$/, ' s').trim()

function success(call, said) {
  if (call.op === 'validar' && said.estado) {
    return [t(said.esValido ? 'whyValid' : 'whyNotValid', { estado: said.estado, mensaje: said.mensaje ?? '' }), said.esValido ? undefined : 'comprobantes']
  }
  if (call.op === 'buscar') return [t(call.answer.trim() === '[]' ? 'whyNothingFound' : 'whyFine')]
  return [t('whyFine')]
}

function faultText(call, faults) {
  const presets = faults.find((fault) => fault.name === call.fault)?.steps.map((step) => step.preset).filter(Boolean) ?? []
  const name = presets[0] ?? call.fault.replace(/-\d+$/, '')
  const what = presetText(name)
  return t(what ? 'whyFaultWhat' : 'whyFault', { name: call.fault, what })
}

function repeated(call) {
  return call.replay ? [[t('whyReplay', { n: call.replay })]] : []
}

function cost(call) {
  if (!call.matched) return t('costNothing')
  if (call.cost === 0) return t(underWay(call) ? '' : 'costNothing')
  return call.left >= 0 ? t('costOneLeft', { left: call.left }) : t('costOne')
}
