package conformance

import (
	"slices"
	"strings"
)

// The values of docs/contrato.md, 3: estados are those of both lists of 3.1.
var (
	estados      = []string{"ACTIVO", "BAJA", "SUSPENSIÓN", "BAJA PROVISIONAL", "BAJA DEFINITIVA", "SUSPENSIÓN TEMPORAL"}
	condiciones  = []string{"HABIDO", "NO HABIDO", "NO HALLADO", "PENDIENTE"}
	estadosOfCPE = []string{"Aceptado", "Anulado", "No Existe", "En Proceso", "Error"}
)

// estadoChecks are those of the values that fields have (docs/contrato.md, 3).
func estadoChecks() (all []check) {
	for _, of := range []struct {
		section, name string
		values        []string
	}{{"3.1", "estado", estados}, {"3.2", "condicion", condiciones}} {
		judge := func(v *verdict, x *exchange, object map[string]any) {
			v.oneOf(x, object, of.name, of.values)
		}
		says := of.name + " is one of " + strings.Join(of.values, ", ")
		all = append(all,
			check{of.section, of.name + " of a lookup", says, func(v *verdict) {
				v.taxpayer(func(x *exchange, taxpayer map[string]any) { judge(v, x, taxpayer) })
				if found, ok := v.valueOf(askFound).(map[string]any); ok {
					judge(v, v.named[askFound], found)
				}
			}},
			check{of.section, of.name + " of a search", says, func(v *verdict) {
				v.eachResult(func(x *exchange, one map[string]any) { judge(v, x, one) })
			}},
		)
	}
	return append(all, check{"3.3", "estado of a receipt", "estado is one of " + strings.Join(estadosOfCPE, ", "), func(v *verdict) {
		v.eachReceipt(func(x *exchange, receipt map[string]any) { v.oneOf(x, receipt, "estado", estadosOfCPE) })
	}})
}

// oneOf judges a text by the list of its values.
func (v *verdict) oneOf(x *exchange, object map[string]any, name string, values []string) {
	if text, ok := v.text(x, object, name); ok && !slices.Contains(values, text) {
		v.wrong(x, "%s is %q: want one of %q", name, text, values)
	}
}
