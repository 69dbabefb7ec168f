// A call as a program would make it, with variables instead of keys, claves and users, of whose names the
// journal keeps the end alone.
import { parameters, parse, subject } from './calls.js'

const shell = (text) => `'${text.replaceAll("'", `'\\''`)}'`
const quoted = (text) => JSON.stringify(String(text ?? ''))

const secrets = { usuarioSol: 'USUARIO_SOL', claveSol: 'CLAVE_SOL' }

// curlOf is curl for a server, whose certificate, if it has one, nobody knows: it was made at its start.
export const curlOf = (origin) => origin.startsWith('https:') ? 'curl -k' : 'curl'

export function curl(call, origin) {
  const lines = [`${curlOf(origin)} -sS ${shell(origin + encodeURI(call.path).replaceAll('?', '%3F').replaceAll('#', '%23') + query(call))}`]
  if (call.method !== 'GET' && !(call.method === 'POST' && call.op === 'validar')) lines[0] += call.method === 'HEAD' ? ' -I' : ` -X ${shell(call.method)}`
  lines.push('-H "X-API-KEY: ${FISCOPE_API_KEY:-clave-de-prueba}"')
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

// What the SDK is asked, by operation: the lines before the question, and the question.
const questions = {
  consultar: (call) => [[], `client.Contribuyentes.Consultar(ctx, ${quoted(subject(call))})`],
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
      `\tTipo:      ${quoted(body.tipoComprobante)},`,
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
  return `${origin.startsWith('https:') ? `// SSL_CERT_FILE=ca.pem, from ${origin}/_mock/ca.pem
` : ''}package main

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
