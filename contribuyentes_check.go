package fiscope

import "strings"

// checkTaxpayer warns of what is odd in a taxpayer and harms nothing.
func checkTaxpayer(a *answer, razonSocial string, estado Estado, condicion Condicion) {
	if nameless(razonSocial) {
		a.warn("a taxpayer without a name: razonSocial is %s", a.quote(razonSocial))
	}
	if !estado.known() {
		a.warn("estado %s is unknown", a.quote(string(estado)))
	}
	if !condicion.known() {
		a.warn("condicion %s is unknown", a.quote(string(condicion)))
	}
}

// nameless reports whether a name is none.
func nameless(razonSocial string) bool {
	name := strings.TrimSpace(razonSocial)
	return name == "" || name == "-"
}
