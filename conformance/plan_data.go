package conformance

import (
	"fmt"
	"strings"
)

const (
	mostResults = 50               // the largest limit of a search (docs/contract.md, 4.2)
	noSuchName  = "ZZQXJWKVZZ"     // in no name
	wrongClave  = "no-es-la-clave" // of no user
)

// receipt returns the first receipt of CPE and its user. Without CPE both are invented: the user is in the mock's own
// data, and unknown to other servers.
func (t Target) receipt() (Comprobante, UsuarioSOL) {
	if t.CPE != nil {
		return t.CPE.Comprobantes[0], t.CPE.Usuario
	}
	return Comprobante{RUCEmisor: t.RUC, Tipo: "01", Serie: "F001", Numero: 1}, UsuarioSOL{RUC: t.RUC, Usuario: "MIUSER01"}
}

// nameOf returns the razonSocial from the lookup; "" for none.
func nameOf(r *record) string {
	found, _ := r.valueOf(askLookup).(map[string]any)
	name, _ := found["razonSocial"].(string)
	return strings.TrimSpace(name)
}

// searchInName searches for the name without its first and last character: it begins within a word, and few other names
// contain it.
func searchInName(written func(string) string) func(*record) (request, string) {
	return func(r *record) (request, string) {
		letters := []rune(nameOf(r))
		if len(letters) < 7 { // so that at least 3 are left after trimming
			return request{}, "the lookup of -ruc has returned no razonSocial that is long enough to search for a part of it"
		}
		return searchOf(written(strings.TrimSpace(string(letters[1:len(letters)-1]))), fmt.Sprint(mostResults)), ""
	}
}

// lookupOfResult looks up the first taxpayer of a search.
func lookupOfResult(r *record) (request, string) {
	found, _ := r.valueOf(askSearchTen).([]any)
	for _, ruc := range rucs(found) {
		if formOfRUC.MatchString(ruc) {
			return lookupOf(ruc), ""
		}
	}
	return request{}, "no search has returned a ruc to look up"
}
