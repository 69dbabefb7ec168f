// What the named faults do, in the page's language.
import { get } from './server.js'
import { language, readTexts, t } from './text.js'

// The Spanish of what GET presets says in English.
const spanish = readTexts(`
html-200|una página HTML con estado 200
firewall-403|la página HTML de un firewall, con estado 403
empty-200|estado 200 sin cuerpo
null-200|estado 200 con null
error-200|estado 200 con el cuerpo de un error
success-false-200|estado 200 con success false
numbers-as-strings|números y booleanos como texto
latin-1|la respuesta en ISO-8859-1 en vez de UTF-8
garbage|estado 200 con bytes sin formato
truncated|media respuesta, con la longitud de esa mitad
trailing-data|un segundo valor JSON después de la respuesta
gzip-bomb|16 MiB dentro de 16 KiB de gzip
gzip-lie|una respuesta sin comprimir que dice ser gzip
other-ruc|los datos de otro contribuyente
other-date|el tipo de cambio del día anterior
contradictory-cpe|un comprobante Aceptado que no es válido
no-rate-limit|sin los encabezados X-RateLimit
epoch-reset|X-RateLimit-Reset en segundos desde 1970
strange-quota|encabezados X-RateLimit que no son números
throttle-as-500|demasiadas llamadas seguidas: 500 sin Retry-After
throttle-429|demasiadas llamadas seguidas: 429 con Retry-After: 1
outage-503|el 503 en HTML de una pasarela, con Retry-After: 120
ambiguous-401|un 401 sin code: clave de API, cuota o usuario SOL
redirect|un 307 hacia otro servidor
sunat-down|un 500, porque SUNAT no responde; no cuenta como intento SOL
sunat-slow|latencia log-normal con mediana de 4 s
hang|sin respuesta, hasta que el cliente se va
slow|el cuerpo en partes de 16 bytes, una cada 200 ms
reset|conexión cortada (RST) antes de responder
reset-inside|conexión cortada (RST) a media respuesta
close|conexión cerrada (FIN) antes de responder
close-inside|conexión cerrada (FIN) a media respuesta
hang-inside|media respuesta, y después nada
`)

// repeated is a failure that the SDK repeats; it stands beside outage-503, which it does not.
const repeated = { name: '503', group: 'status', step: { status: 503, header: { 'Retry-After': '1' } } }

export let presets = []

export async function readPresets() {
  const list = await get('presets')
  presets = list.flatMap((preset) => preset.name === 'outage-503' ? [preset, repeated] : [preset])
}

// presetText is what a preset does, or "" for an unknown name.
export function presetText(name) {
  if (name === repeated.name) return t('repeatedBySDK')
  const what = presets.find((preset) => preset.name === name)?.what ?? ''
  return (language === 'es' ? spanish.get(name)?.[0] ?? what : what) + (name === 'outage-503' ? `; ${t('notRepeatedBySDK')}` : '')
}

// stepText is what a step of a fault does.
export const stepText = ({ preset, status, header = {}, body, latency, hold, before }) => [
  preset && preset.split('+').map((name) => presetText(name) || name).join(', '), status, ...Object.entries(header).map(([name, value]) => `${name}: ${value}`),
  body !== undefined && t('ownBody'), latency && t('latencyOf', { latency }), hold && t('held'), before && t('uncharged'),
].filter(Boolean).join(', ') || t('noFault')
