// The calls that the page knows: the newest of them, in the order of their numbers.

const most = 10000

export class Calls {
  #list = []
  #at = new Map() // the call of a number
  dropped = false // older ones were let go

  get size() { return this.#list.length }
  get last() { return this.#list.at(-1)?.n ?? 0 }
  of(n) { return this.#at.get(n) }

  // clear forgets the calls of a key, or all without one.
  clear(key) {
    this.#list = key ? this.#list.filter((call) => call.key !== key) : []
    this.#at = new Map(this.#list.map((call) => [call.n, call]))
    this.dropped &&= this.#list.length > 0
  }

  // put takes a call, and replaces the one with its number.
  put(call) {
    const old = this.#at.get(call.n)
    this.#at.set(call.n, call)
    let i = this.#list.length
    while (i > 0 && this.#list[i - 1].n >= call.n) i--
    this.#list.splice(i, old ? 1 : 0, call)
    if (this.#list.length < most * 1.1) return
    for (const gone of this.#list.splice(0, this.#list.length - most)) this.#at.delete(gone.n)
    this.dropped = true
  }

  // attempts are all of one question that its client repeated, the first of them at the beginning.
  attempts(call) { return this.#list.filter((other) => firstOf(other) === firstOf(call)) }

  // before is the attempt before one, if it is known.
  before({ n, retryOf }) {
    for (let i = n - 1; i >= retryOf; i--) if (this.#at.has(i) && firstOf(this.#at.get(i)) === retryOf) return this.#at.get(i)
  }

  // newest returns the calls up to one that a filter takes, the newest first and the attempts of a question together:
  // at most so many; how many there are; and what all after another one are together.
  newest(filter, limit, after, upTo = Infinity) {
    const shown = []
    const sum = { calls: 0, spent: 0, errors: 0, all: 0, by: {} }
    for (let i = this.#list.length - 1; i >= 0; i--) {
      const call = this.#list[i]
      if (!takes(filter, call)) continue
      if (call.n <= upTo) {
        sum.all++
        if (shown.length < limit) shown.push(call)
      }
      if (call.n <= after) continue
      sum.calls++
      sum.spent += call.cost
      if (call.cost) sum.by[call.op] = (sum.by[call.op] ?? 0) + call.cost
      if (failed(call)) sum.errors++
    }
    const place = new Map()
    for (const call of shown) place.set(firstOf(call), place.get(firstOf(call)) ?? place.size)
    shown.sort((a, b) => place.get(firstOf(a)) - place.get(firstOf(b)))
    return { shown, sum }
  }
}

// firstOf is the number of the first attempt of what a call asks.
export const firstOf = (call) => call.retryOf ?? call.n
export const underWay = (call) => call.status === 0 && !call.ms
export const failed = (call) => call.status >= 300 || (call.status === 0 && !underWay(call)) || spoilt(call)

// spoilt reports whether a success did not come whole, or is not the answer to what was asked: then a fault, or the
// real service, has made it.
export const spoilt = (call) => Boolean(call.broken) || (call.status === 200 && call.method !== 'HEAD' &&
  Boolean(call.fault || call.upstream === 'strange') && isFalse(call))

// answeredByService is 'asked' or 'strange' if the real service answered, not the mock for it.
export const answeredByService = (call) => call.code !== 'MOCK_UPSTREAM' && call.upstream

function isFalse(call) {
  const said = parse(call.answer)
  if (call.answer?.includes('\ufffd') || call.responseHeaders?.['Content-Encoding']) return true
  switch (call.op) {
    case 'consultar':
      return said?.ruc !== subject(call)
    case 'buscar':
      return !Array.isArray(said)
    case 'validar':
      return typeof said?.codigo !== 'string' || said.esValido !== (said.codigo === '0')
    case 'tipocambio':
      return typeof said?.venta !== 'number' || said.fecha !== asked(call)
  }
  return false
}

const classes = {
  ok: (call) => call.status >= 200 && !failed(call),
  error: failed,
  cost: (call) => call.cost > 0,
  '4xx': (call) => call.status >= 400 && call.status < 500,
  '5xx': (call) => call.status >= 500,
  none: (call) => call.status === 0,
}

function takes(filter, call) {
  return (!filter.op || (filter.op === 'unmatched' ? !call.matched : call.op === filter.op)) &&
    (!filter.kind || classes[filter.kind](call)) &&
    (!filter.asked || asked(call).toLowerCase().includes(filter.asked)) &&
    (!filter.text || wordsOf(call).includes(filter.text))
}

const words = new WeakMap()

function wordsOf(call) {
  if (!words.has(call)) {
    words.set(call, [`#${call.n}`, `#${firstOf(call)}`, call.op, call.method, call.path, call.query, call.ruc, subject(call), call.status, call.code,
      call.fault, call.sol, call.key, call.userAgent, call.body, call.answer].join(' ').toLowerCase())
  }
  return words.get(call)
}

export function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

// parameters are those of a query as the journal writes it: decoded, in the order of the contract.
export function parameters(call) {
  const [, razonSocial, limit, fecha] = /^(?:razonSocial=(.*?))?(?:(?:^|&)limit=([^&]*))?(?:(?:^|&)fecha=([^&]*))?(?:&?\([^()]*\))?$/s.exec(call.query ?? '') ?? []
  return { razonSocial, limit, fecha }
}

// part is what a fault's text can say of a call's question, besides its RUC.
export function part(call) {
  const { razonSocial, fecha } = parameters(call)
  const { serie, numero } = call.op === 'validar' && parse(call.body) || {}
  return razonSocial ?? fecha ?? [serie, numero].filter((value) => value != null).join('-')
}

// asked is the subject; of the rate of today, its day.
const asked = (call) => subject(call) || call.time.slice(0, 10)

export function subject(call) {
  switch (call.op) {
    case 'consultar':
      return call.ruc || call.path.slice(call.path.lastIndexOf('/') + 1)
    case 'buscar':
      return parameters(call).razonSocial ?? call.query ?? ''
    case 'validar': {
      const body = parse(call.body)
      if (!body) return call.body ?? ''
      return [body.rucEmisor, body.tipoComprobante, part(call)].filter(Boolean).join(' ')
    }
    case 'tipocambio':
      return parameters(call).fecha ?? ''
  }
  return `${call.method} ${call.path}${call.query ? `?${call.query}` : ''}`
}
