package e2e

import (
	"net/http"
)

// traffic makes the calls of an afternoon, of the kind that a person looks at: good ones, wrong claves, a fault, a
// search, a quota that runs out of another key.
func (p *program) traffic() {
	p.t.Helper()
	later := func(by string) { p.admin(http.MethodPost, "clock/advance", `{"by": "`+by+`"}`) }
	receipt := func(serie, numero, clave string) {
		p.call(http.MethodPost, "/api/cpe/validar", `{"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "`+serie+`", "numero": `+numero+
			`, "rucSolicitante": "20131312955", "usuarioSol": "MIUSER01", "claveSol": "`+clave+`"}`)
	}
	p.admin(http.MethodPost, "keys", `{"key": "equipo-de-pagos", "quota": 3}`)
	for _, ruc := range []string{"20131312955", "20100070970", "10000000006", "20131312955"} {
		p.lookup(ruc)
		later("1340ms")
	}
	p.call(http.MethodGet, "/api/contribuyentes/search?razonSocial=superintendencia&limit=5", "")
	later("2210ms")
	p.call(http.MethodGet, "/api/tipocambio?fecha=2026-11-19", "")
	later("870ms")
	p.call(http.MethodGet, "/api/tipocambio", "")
	later("3150ms")
	p.admin(http.MethodPost, "faults", `{"match": {"op": "consultar", "times": 2}, "steps": [{"preset": "throttle-429"}]}`)
	p.lookup("20100070970")
	later("1020ms")
	p.lookup("20100070970")
	later("1530ms")
	p.lookup("20100070970")
	later("4410ms")
	p.call(http.MethodGet, "/api/contribuyentes/2010007097", "")
	later("2950ms")
	for range 4 {
		p.send(http.MethodGet, "/api/contribuyentes/20131312955", "", "X-API-KEY", "equipo-de-pagos", "User-Agent", "pagos/2.4")
		later("310ms")
	}
	p.call(http.MethodGet, "/api/contribuyente/20100070970", "")
	later("5200ms")
	receipt("F001", "123", "clave-mock-1")
	later("1900ms")
	receipt("F001", "124", "clave-mock-1")
	later("2480ms")
	receipt("F001", "125", "otra-clave")
	later("760ms")
	receipt("F001", "125", "otra-clave")
	p.admin(http.MethodPost, "faults", `{"match": {"op": "validar"}, "steps": [{"preset": "sunat-slow"}]}`)
}
