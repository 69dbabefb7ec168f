package conformance

import (
	"fmt"
	"strings"
)

const (
	mostResults = 50               // the largest limit of a search (docs/contract.md, 4.2)
	noSuchName  = "ZZQXJWKVZZ"     // which is in no name
	wrongClave  = "no-es-la-clave" // which is nobody's
)

// receipt is the first one of CPE and its user. Without CPE both are made up: the user is that of the mock's own data,
// whom other servers do not know.
func (t Target) receipt() (Comprobante, UsuarioSOL) {
	if t.CPE != nil {
		return t.CPE.Comprobantes[0], t.CPE.Usuario
	}
	return Comprobante{RUCEmisor: t.RUC, Tipo: "01", Serie: "F001", Numero: 1}, UsuarioSOL{RUC: t.RUC, Usuario: "MIUSER01"}
}

// nameOf is the razonSocial that the lookup has returned, "" for none.
func nameOf(r *record) string {
	taxpayer, _ := r.valueOf(askLookup).(map[string]any)
	name, _ := taxpayer["razonSocial"].(string)
	return strings.TrimSpace(name)
}

// searchInName searches for the name without its first and last character: a part that begins within a word, and
// that few other names can have.
func searchInName(written func(string) string) func(*record) (request, string) {
	return func(r *record) (request, string) {
		letters := []rune(nameOf(r))
		if len(letters) < 7 { // which leaves 3 without a blank at an end
			return request{}, "the lookup of -ruc has returned no razonSocial that is long enough to search for a part of it"
		}
		return searchOf(written(strings.TrimSpace(string(letters[1:len(letters)-1]))), fmt.Sprint(mostResults)), ""
	}
}

// lookupOfResult looks up the first taxpayer that a search has found.
func lookupOfResult(r *record) (request, string) {
	found, _ := r.valueOf(askSearchTen).([]any)
	for _, ruc := range rucs(found) {
		if formOfRUC.MatchString(ruc) {
			return lookupOf(ruc), ""
		}
	}
	return request{}, "no search has returned a ruc to look up"
}
