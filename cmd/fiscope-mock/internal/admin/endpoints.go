package admin

import (
	"fmt"
	"net/http"
	"strings"
)

// endpoint is one method of one path.
type endpoint struct {
	method, path string
	what         string // one line, for the list
	do           func(*api, *http.Request) (any, error)
	open         bool // needs no token
}

const comprobantePath = "/_mock/comprobantes/{rucEmisor}/{tipo}/{serie}/{numero}"

var endpoints []endpoint

func init() { // the list includes itself
	endpoints = []endpoint{
		{"GET", "/_mock/", "this list, or a page for browsers", (*api).list, false},
		{"GET", "/_mock/openapi.yaml", "this API as an OpenAPI document", (*api).openAPI, true},
		{"GET", "/_mock/healthz", "200 while it serves", (*api).healthz, true},
		{"GET", "/_mock/ca.pem", "the CA to trust, with -tls", (*api).ca, true},
		{"GET", "/_mock/session", "whether a token has to be given", (*api).getSession, true},
		{"POST", "/_mock/session", `{"token": "…"}: for a browser, which gets a cookie`, (*api).postSession, true},
		{"DELETE", "/_mock/session", "take the cookie away", (*api).deleteSession, true},

		{"GET", "/_mock/data", "the data that was put on it, keys and claves included: a -data file", (*api).getData, false},
		{"PUT", "/_mock/data", "put data of that format over it, all or nothing", (*api).putData, false},
		{"DELETE", "/_mock/data", "back to the data it started with", (*api).deleteData, false},

		{"GET", "/_mock/clock", `{"now": "2026-11-20T16:59:00-05:00", "frozen": false}`, (*api).getClock, false},
		{"PUT", "/_mock/clock", "set now, frozen or both", (*api).putClock, false},
		{"POST", "/_mock/clock/advance", `{"by": "24h"}`, (*api).advance, false},

		{"GET", "/_mock/faults", "the faults, with what they met *", (*api).getFaults, false},
		{"POST", "/_mock/faults", `{"match": {"op": "consultar", "times": 1}, "steps": [{"status": 503}]} *`, (*api).postFault, false},
		{"DELETE", "/_mock/faults", "remove all *", (*api).deleteFaults, false},
		{"DELETE", "/_mock/faults/{name}", "remove one *", (*api).deleteFault, false},
		{"POST", "/_mock/faults/{name}/release", "let go the calls that it holds *", (*api).releaseFault, false},
		{"GET", "/_mock/presets", `the named faults, for a step {"preset": NAME}`, (*api).getPresets, false},
		{"GET", "/_mock/sunat", `{"down": false}: whether the tax authority does not respond`, (*api).getSUNAT, false},
		{"PUT", "/_mock/sunat", `{"down": true}: the tax authority does not respond`, (*api).putSUNAT, false},

		{"GET", "/_mock/requests", "the journal; ?op ?ruc ?text ?path ?status ?code ?fault ?unmatched ?after ?key ?limit *", (*api).getRequests, false},
		{"GET", "/_mock/requests.har", "the same as HAR 1.2, for HTTP tools *", (*api).exportRequests, false},
		{"GET", "/_mock/requests/wait", "the same, once there are ?count, within ?timeout (1, 10s) *", (*api).waitRequests, false},
		{"GET", "/_mock/requests/stream", "as they come: Server-Sent Events, after ?since or Last-Event-ID *", (*api).streamRequests, false},
		{"DELETE", "/_mock/requests", "forget them *", (*api).deleteRequests, false},

		{"GET", "/_mock/quotas", "where each key stands *", (*api).getQuotas, false},
		{"PUT", "/_mock/quotas", `{"limit": 100, "used": 99} of the key in X-API-KEY, or of the first *`, (*api).putQuota, false},
		{"PUT", "/_mock/quotas/{fingerprint}", "the same of a key by its fingerprint", (*api).putQuotaOf, false},
		{"GET", "/_mock/keys", "the keys by their fingerprints, with their limits", (*api).getKeys, false},
		{"POST", "/_mock/keys", `{"key": "…", "quota": 100}`, (*api).postKey, false},
		{"DELETE", "/_mock/keys/{fingerprint}", "refuse it from now on", (*api).deleteKey, false},

		{"GET", "/_mock/contribuyentes", "taxpayers by RUC or name; ?text ?limit (20)", (*api).getContribuyentes, false},
		{"GET", "/_mock/contribuyentes/{ruc}", "one", (*api).getContribuyente, false},
		{"PUT", "/_mock/contribuyentes/{ruc}", `{"razonSocial": "…", "estado": "ACTIVO", …}: add it, or replace it`, (*api).putContribuyente, false},
		{"DELETE", "/_mock/contribuyentes/{ruc}", "take it away", (*api).deleteContribuyente, false},

		{"GET", "/_mock/comprobantes", "receipts; ?ruc ?limit", (*api).getComprobantes, false},
		{"PUT", comprobantePath, `{"codigo": "0"}: add it, or replace it`, (*api).putComprobante, false},
		{"DELETE", comprobantePath, "it does not exist from now on", (*api).deleteComprobante, false},

		{"GET", "/_mock/tiposcambio", "each day of a month, and why it has no rate; ?mes=2026-11", (*api).getTiposCambio, false},
		{"PUT", "/_mock/tiposcambio/{fecha}", `{"compra": 3.750, "venta": 3.760}`, (*api).putTipoCambio, false},
		{"DELETE", "/_mock/tiposcambio/{fecha}", "leave the day without a rate", (*api).deleteTipoCambio, false},
		{"POST", "/_mock/tiposcambio/{fecha}/restore", "back to the default series", (*api).restoreTipoCambio, false},

		{"GET", "/_mock/sol", "the SOL users, with their attempts and blocks", (*api).getSOL, false},
		{"PUT", "/_mock/sol/{ruc}/{usuario}", `{"clave": "…", "principal": false}: add it, or change it`, (*api).putUsuario, false},
		{"DELETE", "/_mock/sol/{ruc}/{usuario}", "take it away", (*api).deleteUsuario, false},
		{"DELETE", "/_mock/sol/{ruc}/{usuario}/block", "forget a user's wrong attempts", (*api).unblock, false},

		{"GET", "/_mock/assumptions", "how it reads what the contract leaves open: -assume", (*api).getAssumptions, false},
		{"PUT", "/_mock/assumptions", `{"BlockAfter": 5}: read it so from now on`, (*api).putAssumptions, false},
		{"POST", "/_mock/reset", `{"parts": ["journal"]}, or all without: faults clock data locks quotas journal *`, (*api).reset, false},
	}
}

// list lists the endpoints.
func (a *api) list(r *http.Request) (any, error) {
	if a.isOfPage(r) {
		return a.Page, nil
	}
	var b strings.Builder
	b.WriteString("fiscope-mock, under " + Prefix + "\n\n")
	for _, e := range endpoints {
		fmt.Fprintf(&b, "%-6s %-33s %s\n", e.method, e.path, e.what)
	}
	b.WriteString("\n* With an X-API-KEY header: of that key only.\n" +
		"A body wants Content-Type: application/json.\n")
	return document{"text/plain; charset=utf-8", b.String()}, nil
}

func (a *api) healthz(*http.Request) (any, error) {
	return map[string]string{"status": "ok"}, nil
}

func (a *api) openAPI(*http.Request) (any, error) {
	return document{"application/yaml", string(a.OpenAPI)}, nil
}

func (a *api) ca(*http.Request) (any, error) {
	if a.CA == nil {
		return nil, notFound("inicie el servidor con -tls", "este servidor no hizo ninguna CA")
	}
	return document{"application/x-pem-file", string(a.CA)}, nil
}
