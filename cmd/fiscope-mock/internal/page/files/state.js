// What several views show of the server, beside the clock.
import { get } from './server.js'

export const state = { faults: [], assumptions: [], down: false, blocked: 0 }

// readState asks for it anew.
export async function readState() {
  const [faults, sunat, assumptions] = await Promise.all([get('faults'), get('sunat'), get('assumptions')])
  Object.assign(state, { faults, down: sunat.down, assumptions })
}
