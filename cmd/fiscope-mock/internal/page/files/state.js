// What several views show of the server, beside the clock.
import { get } from './server.js'

export const operations = ['consultar', 'buscar', 'validar', 'tipocambio'].map((op) => [op, op])

export const state = { faults: [], assumptions: [], down: false }

// assumed is the value of an assumption.
export const assumed = (name) => state.assumptions.find((assumption) => assumption.name === name)?.value

export async function readState() {
  const [faults, sunat, assumptions] = await Promise.all([get('faults'), get('sunat'), get('assumptions')])
  Object.assign(state, { faults, down: sunat.down, assumptions })
}
