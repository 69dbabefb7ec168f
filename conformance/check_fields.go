package conformance

import (
	"encoding/json"
	"regexp"
	"strconv"
	"time"
)

// fieldChecks are those of the fields of each answer, one for each (docs/contrato.md, 2).
func fieldChecks() (all []check) {
	field := func(section, name, says string, judge func(*verdict)) {
		all = append(all, check{section, name, name + " is " + says, judge})
	}
	for _, f := range []struct{ name, says string }{
		{"direccion", "a text, the fiscal address"}, {"departamento", "a text, the department"},
		{"provincia", "a text, the province"}, {"distrito", "a text, the district"},
		{"tipo", "a text, the type of taxpayer"}, {"actividadEconomica", "a text, the main activity"},
		{"estado", "a text, the status"}, {"condicion", "a text, the condition of the domicile"},
	} {
		field("2.1", f.name, f.says, func(v *verdict) {
			v.taxpayer(func(x *exchange, taxpayer map[string]any) { v.text(x, taxpayer, f.name) })
		})
	}
	field("2.1", "ruc", "a text, the RUC: 11 digits", func(v *verdict) {
		v.taxpayer(func(x *exchange, taxpayer map[string]any) {
			v.formed(x, taxpayer, "ruc", formOfRUC, "11 digits")
		})
	})
	field("2.1", "razonSocial", "a text, the business name", func(v *verdict) {
		v.taxpayer(func(x *exchange, taxpayer map[string]any) {
			v.formed(x, taxpayer, "razonSocial", someText, "a name")
		})
	})
	field("2.1", "ubigeo", "a text, the code of the location: 6 digits", func(v *verdict) {
		v.taxpayer(func(x *exchange, taxpayer map[string]any) {
			v.formed(x, taxpayer, "ubigeo", formOfUbigeo, "6 digits")
		})
	})
	for _, name := range []string{"fechaInscripcion", "fechaInicioActividades"} {
		field("2.1", name, "a text, a day written YYYY-MM-DD", func(v *verdict) {
			v.taxpayer(func(x *exchange, taxpayer map[string]any) {
				if text, ok := v.text(x, taxpayer, name); ok && !unknown(text) {
					v.day(x, name, text)
				}
			})
		})
	}
	field("2.2", "ruc", "a text, the RUC", func(v *verdict) {
		v.eachResult(func(x *exchange, one map[string]any) { v.formed(x, one, "ruc", formOfRUC, "11 digits") })
	})
	field("2.2", "razonSocial", "a text, the business name", func(v *verdict) {
		v.eachResult(func(x *exchange, one map[string]any) { v.formed(x, one, "razonSocial", someText, "a name") })
	})
	for _, name := range []string{"estado", "condicion"} {
		field("2.2", name, "a text", func(v *verdict) {
			v.eachResult(func(x *exchange, one map[string]any) { v.text(x, one, name) })
		})
	}
	for _, name := range []string{"codigo", "mensaje", "estado"} {
		field("2.4", name, "a text", func(v *verdict) {
			v.eachReceipt(func(x *exchange, receipt map[string]any) { v.text(x, receipt, name) })
		})
	}
	field("2.4", "esValido", "true or false", func(v *verdict) {
		v.eachReceipt(func(x *exchange, receipt map[string]any) {
			if _, ok := receipt["esValido"].(bool); !ok {
				v.wrong(x, "esValido is %s: want true or false", member(receipt, "esValido"))
			}
		})
	})
	for _, name := range []string{"compra", "venta"} {
		field("2.5", name, "a number, a rate", func(v *verdict) {
			v.eachRate(func(x *exchange, rate map[string]any) {
				number, ok := rate[name].(json.Number)
				if value, err := strconv.ParseFloat(string(number), 64); !ok || err != nil || value <= 0 {
					v.wrong(x, "%s is %s: want a number above 0", name, member(rate, name))
				}
			})
		})
	}
	for _, f := range []struct{ name, want, says string }{
		{"moneda", "USD", "USD, always"}, {"origen", "SBS", "the acronym of the banking regulator, always the same"},
	} {
		field("2.5", f.name, f.says, func(v *verdict) {
			v.eachRate(func(x *exchange, rate map[string]any) {
				if text, ok := v.text(x, rate, f.name); ok && text != f.want {
					v.wrong(x, "%s is %q: want %q", f.name, text, f.want)
				}
			})
		})
	}
	field("2.5", "fecha", "a text, the date of the rate written YYYY-MM-DD", func(v *verdict) {
		v.eachRate(func(x *exchange, rate map[string]any) {
			if text, ok := v.text(x, rate, "fecha"); ok {
				v.day(x, "fecha", text)
			}
		})
	})
	return all
}

var (
	someText     = regexp.MustCompile(`\S`)
	formOfUbigeo = regexp.MustCompile(`^([0-9]{6}|-|)$`) // also without a value: see unknown
)

// unknown reports whether a field is written as having no value, of which the contract says nothing but that it is
// a text (docs/contrato.md, 2.1).
func unknown(text string) bool { return text == "" || text == "-" }

// day judges a text as a day of the calendar, YYYY-MM-DD.
func (v *verdict) day(x *exchange, name, text string) {
	if _, err := time.Parse(time.DateOnly, text); err != nil || !formOfFecha.MatchString(text) {
		v.wrong(x, "%s is %q: want a day written YYYY-MM-DD", name, text)
	}
}

// taxpayer judges what the lookup of -ruc returned. Of others nothing is known: some have no address.
func (v *verdict) taxpayer(judge func(*exchange, map[string]any)) {
	if x, taxpayer, ok := v.object(askLookup); ok {
		judge(x, taxpayer)
	}
}

// eachResult judges what the searches returned.
func (v *verdict) eachResult(judge func(*exchange, map[string]any)) {
	for _, x := range v.succeeding(search) {
		x, list, ok := v.list(x.name)
		if !ok {
			continue
		}
		for _, one := range list {
			object, ok := one.(map[string]any)
			switch {
			case len(v.failures) == mostFailures:
				return
			case !ok:
				v.wrong(x, "a result is %s: want an object", kind(one))
			default:
				judge(x, object)
			}
		}
	}
}

// eachReceipt judges what the validations returned.
func (v *verdict) eachReceipt(judge func(*exchange, map[string]any)) {
	asked := false
	for _, x := range v.succeeding(validation) {
		asked = true
		if x, receipt, ok := v.object(x.name); ok {
			judge(x, receipt)
		}
	}
	if !asked {
		v.skip(needsClave)
	}
}

// eachRate judges the rates that came, that of today too where there is one.
func (v *verdict) eachRate(judge func(*exchange, map[string]any)) {
	if x, rate, ok := v.object(askRate); ok {
		judge(x, rate)
	}
	if today, ok := v.valueOf(askToday).(map[string]any); ok {
		judge(v.named[askToday], today)
	}
}
