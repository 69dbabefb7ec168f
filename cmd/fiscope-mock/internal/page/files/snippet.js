// A call as a program would make it, with variables in the place of keys, claves and users, of whose names the
// journal keeps the end alone.
import { parameters, parse } from './calls.js'

const shell = (text) => `'${text.replaceAll("'", `'\\''`)}'`
const quoted = (text) => JSON.stringify(String(text ?? ''))

const secrets = { usuarioSol: 'USUARIO_SOL', claveSol: 'CLAVE_SOL' }

export function curl(call, origin) {
  const lines = [`curl -sS ${shell(origin + encodeURI(call.path).replaceAll('?', '%3F').replaceAll('#', '%23') + query(call))}`]
  if (call.method !== 'GET' && !(call.method === 'POST' && call.op === 'validar')) lines[0] += ` -X ${shell(call.method)}`
  lines.push('-H "X-API-KEY: $FISCOPE_API_KEY"')
  if (call.op === 'validar' && call.method === 'POST') {
    lines.push("-H 'Content-Type: application/json'", `-d ${receipt(call)}`)
  }
  return lines.join(' \\\n  ')
}

function query(call) {
  const given = Object.entries(parameters(call)).filter(([, value]) => value !== undefined)
  return given.length ? `?${given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}` : ''
}

function receipt(call) {
  const body = parse(call.body)
  if (!body) return '@cuerpo.json'
  const members = Object.entries(body).map(([name, value]) =>
    `${quoted(name)}: ${secrets[name] ? `"'"$${secrets[name]}"'"` : JSON.stringify(value).replaceAll("'", `'\\''`)}`)
  return `'{${members.join(', ')}}'`
}

const kinds = { '01': 'fiscope.TipoFactura', '03': 'fiscope.TipoBoleta', '07': 'fiscope.TipoNotaCredito', '08': 'fiscope.TipoNotaDebito' }

// What the SDK is asked, by operation: the lines before the question, and the question.
const questions = {
  consultar: (call) => [[], `client.Contribuyentes.Consultar(ctx, ${quoted(call.ruc || call.path.slice(call.path.lastIndexOf('/') + 1))})`],
  buscar(call) {
    const { razonSocial, limit } = parameters(call)
    const limite = /^\d+$/.test(limit) ? `, Limite: ${Number(limit)}` : ''
    return [[], `client.Contribuyentes.Buscar(ctx, fiscope.Busqueda{RazonSocial: ${quoted(razonSocial)}${limite}})`]
  },
  validar(call) {
    const body = parse(call.body) ?? {}
    return [[
      'comprobante := fiscope.Comprobante{',
      `\tRUCEmisor: ${quoted(body.rucEmisor)},`,
      `\tTipo:      ${kinds[body.tipoComprobante] ?? quoted(body.tipoComprobante)},`,
      `\tSerie:     ${quoted(body.serie)},`,
      `\tNumero:    ${Number.isInteger(body.numero) ? body.numero : 0},`,
      '}',
      'credenciales := fiscope.CredencialesSOL{',
      `\tRUC:     ${quoted(body.rucSolicitante)},`,
      '\tUsuario: os.Getenv("USUARIO_SOL"),',
      '\tClave:   fiscope.NewSecreto(os.Getenv("CLAVE_SOL")),',
      '}',
    ], 'client.CPE.Validar(ctx, comprobante, credenciales)']
  },
  tipocambio(call) {
    const { fecha } = parameters(call)
    if (fecha === undefined) return [[], 'client.TipoCambio.Hoy(ctx)']
    return [[`fecha, err := fiscope.ParseFecha(${quoted(fecha)})`, 'if err != nil {', '\tlog.Fatal(err)', '}'],
      'client.TipoCambio.Consultar(ctx, fecha)']
  },
}

// goProgram returns the call as a program with the SDK, or "" for what the SDK does not call.
export function goProgram(call, origin) {
  if (!questions[call.op]) return ''
  const [before, question] = questions[call.op](call)
  return `package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/fiscope/fiscope"
)

func main() {
	ctx := context.Background()
	client, err := fiscope.NewClient(${quoted(origin)}, os.Getenv("FISCOPE_API_KEY"))
	if err != nil {
		log.Fatal(err)
	}
${before.map((line) => `\t${line}\n`).join('')}	answer, err := ${question}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%+v\\n", answer)
}
`
}
