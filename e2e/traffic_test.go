package e2e

import (
	"net/http"
)

// traffic makes the calls of an afternoon, of the kind that a person looks at: good ones, wrong claves, a fault, a
// search, a quota that runs out of another key.
func (p *program) traffic() {
	p.t.Helper()
	later := func() { p.admin(http.MethodPost, "clock/advance", `{"by": "1340ms"}`) }
	get := func(key string, paths ...string) {
		for _, path := range paths {
			p.send(http.MethodGet, "/api/"+path, "", "X-API-KEY", key)
			later()
		}
	}
	const lookup, other = "contribuyentes/20131312955", "contribuyentes/20100070970"
	p.admin(http.MethodPost, "keys", `{"key": "equipo-de-pagos", "quota": 3}`)
	get(defaultKey, lookup, other, "contribuyentes/10000000006", lookup, "contribuyentes/search?razonSocial=superintendencia&limit=5",
		"tipocambio?fecha=2026-11-19", "tipocambio")
	p.fault(`"op": "consultar", "times": 2`, `"preset": "throttle-429"`)
	get(defaultKey, other, other, other, "contribuyentes/2010007097")
	get("equipo-de-pagos", lookup, lookup, lookup, lookup)
	get(defaultKey, "contribuyente/20100070970")
	for _, clave := range []string{"clave-mock-1", "clave-mock-1", "otra-clave", "otra-clave"} {
		p.validate("MIUSER01", clave)
		later()
	}
	p.fault(`"op": "validar"`, `"preset": "sunat-slow"`)
}
