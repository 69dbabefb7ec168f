package conformance

import (
	"net/http"
	"slices"
)

// values are the values in docs/contract.md, 3; those of estado are from both lists of 3.1. openapi.yaml leaves them
// open, for clients.
var values = []struct {
	subtest, name string
	all           []string
}{
	{"3.1/estado", "estado", []string{"ACTIVO", "BAJA", "SUSPENSIÓN", "BAJA PROVISIONAL", "BAJA DEFINITIVA", "SUSPENSIÓN TEMPORAL"}},
	{"3.2/condicion", "condicion", []string{"HABIDO", "NO HABIDO", "NO HALLADO", "PENDIENTE"}},
}

func valueChecks() (all []check) {
	for _, of := range values {
		all = append(all, check{of.subtest, func(v *verdict) {
			for _, t := range v.taxpayers(lookup, search) {
				if text, ok := t.object[of.name].(string); !ok || !slices.Contains(of.all, text) {
					v.wrong(t.exchange, "%s is %s: want one of %q", of.name, member(t.object, of.name), of.all)
				}
			}
		}})
	}
	return all
}

// taxpayer is a taxpayer of an answer.
type taxpayer struct {
	*exchange
	object map[string]any
}

// taxpayers returns all taxpayers in the answers of some operations, with the target's key.
func (r *record) taxpayers(of ...operation) (all []taxpayer) {
	for _, x := range r.sent {
		if !slices.Contains(of, x.request.op) || x.request.key != ownKey || x.failed != nil || x.answer.status != http.StatusOK {
			continue
		}
		list, ok := x.value.([]any)
		if !ok {
			list = []any{x.value}
		}
		for _, one := range list {
			object, _ := one.(map[string]any)
			all = append(all, taxpayer{x, object})
		}
	}
	return all
}
