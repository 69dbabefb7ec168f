// A billing team's own test, in Node 18 or later: fetch and assert, nothing to install.
//   fiscope-mock exec -- node fetch.mjs
import assert from 'node:assert/strict'

const base = process.env.FISCOPE_BASE_URL
const headers = { 'X-API-KEY': process.env.FISCOPE_API_KEY }
const json = { 'Content-Type': 'application/json' }
const get = (path) => fetch(base + path, { headers })
const admin = async (method, path, body) => {
  const answer = await fetch(base + '/_mock/' + path, { method, headers: json, body: body && JSON.stringify(body) })
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${await answer.clone().text()}`)
  return answer
}

// A taxpayer, with what is left of the quota.
let answer = await get('/api/contribuyentes/20131312955')
assert.equal(answer.status, 200)
assert.equal((await answer.json()).ruc, '20131312955')
assert.equal(answer.headers.get('x-ratelimit-remaining'), '999')

// A search, escaped.
answer = await get('/api/contribuyentes/search?' + new URLSearchParams({ razonSocial: 'supermercados' }))
assert.equal((await answer.json())[0].ruc, '20100070970')

// A receipt.
answer = await fetch(base + '/api/cpe/validar', {
  method: 'POST',
  headers: { ...headers, ...json },
  body: JSON.stringify({
    rucEmisor: '20100070970', tipoComprobante: '01', serie: 'F001', numero: 123,
    rucSolicitante: '20131312955', usuarioSol: 'MIUSER01', claveSol: 'clave-mock-1',
  }),
})
assert.equal((await answer.json()).esValido, true)

// Today's rate, a second before and at 17:00 in Lima.
await admin('PUT', 'clock', { now: '2026-11-20T16:59:59-05:00', frozen: true })
assert.equal((await get('/api/tipocambio')).status, 404)
await admin('POST', 'clock/advance', { by: '1s' })
assert.equal((await (await get('/api/tipocambio')).json()).fecha, '2026-11-20')

// A failure, once; then the connection breaks; then all is well.
await admin('POST', 'faults', { match: { op: 'consultar' }, steps: [{ preset: 'html-200' }, { preset: 'reset-inside' }] })
await assert.rejects((await get('/api/contribuyentes/20131312955')).json(), SyntaxError)
await assert.rejects(get('/api/contribuyentes/20131312955').then((broken) => broken.text()))
assert.equal((await get('/api/contribuyentes/20131312955')).status, 200)

// And what the mock saw of it.
const { requests } = await (await admin('GET', 'requests?op=consultar')).json()
assert.equal(requests.length, 4)
assert.ok(requests.every((r) => r.cost === 1), 'lost answers are paid for, too')
console.log('node: ok')
