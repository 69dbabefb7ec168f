package conformance

import "net/http"

// validationChecks are those of docs/contrato.md, 2.3, 2.4 and 4.3.
func validationChecks() (all []check) {
	for _, field := range cpeFields {
		all = append(all, check{"2.3", field + " is required", "a validation without " + field + " is a 400", func(v *verdict) {
			v.refusal(askWithout+field, http.StatusBadRequest, "")
		}})
	}
	for _, tipo := range tipos {
		all = append(all, check{"2.3", "tipoComprobante " + tipo + " is allowed", "tipoComprobante may be 01, 03, 07 or 08", func(v *verdict) {
			seen := false
			for _, x := range v.succeeding(validation) {
				if x.tipo == tipo {
					seen = true
					v.object(x.name)
				}
			}
			if !seen {
				v.skip("no receipt of type %s to validate: give one with -cpe FILE", tipo)
			}
		}})
	}
	all = append(all, check{"2.3", "another tipoComprobante is not answered with 200", "tipoComprobante may be 01, 03, 07 or 08, and nothing else",
		func(v *verdict) {
			if x, ok := v.answered(askOtherTipo); ok && x.succeeded() {
				v.wrong(x, "the status is %d: want an error, of whatever status", x.answer.status)
			}
		}})
	for _, r := range resultados {
		all = append(all, check{"2.4", "codigo " + r.codigo + " is " + r.estado, "codigo " + r.codigo + " goes with the estado " + r.estado, func(v *verdict) {
			v.receiptsOf(r.codigo, func(x *exchange, receipt map[string]any) {
				if receipt["codigo"] != r.codigo {
					v.wrong(x, "codigo is %s: want %q, as -cpe has it", member(receipt, "codigo"), r.codigo)
				} else if receipt["estado"] != r.estado {
					v.wrong(x, "estado is %s: want %q for codigo %s", member(receipt, "estado"), r.estado, r.codigo)
				}
			})
		}})
	}
	all = append(all,
		check{"3.3", "Aceptado is valid", "a receipt that is Aceptado is valid and registered", func(v *verdict) {
			v.receiptsOf("0", func(x *exchange, receipt map[string]any) {
				if receipt["esValido"] != true {
					v.wrong(x, "esValido is %s: want true", member(receipt, "esValido"))
				}
			})
		}},
		check{"4.3", "a result is an object", "success is a JSON object", func(v *verdict) {
			v.eachReceipt(func(*exchange, map[string]any) {})
		}})
	for _, r := range []struct{ what, codigo string }{{"cancelled", "2"}, {"pending", "4"}, {"missing", "98"}} {
		all = append(all, check{"4.3", "a " + r.what + " receipt is a success that says so",
			"a receipt that is cancelled, missing or pending is reported in a success, by codigo, estado and esValido", func(v *verdict) {
				v.receiptsOf(r.codigo, func(x *exchange, receipt map[string]any) {
					if receipt["esValido"] != false {
						v.wrong(x, "esValido is %s: want false for codigo %s", member(receipt, "esValido"), r.codigo)
					}
				})
			}})
	}
	for _, field := range []string{"rucEmisor", "rucSolicitante"} {
		all = append(all, check{"4.3", "a malformed " + field + " is a 400", "a malformed RUC is a 400", func(v *verdict) {
			v.refusal(askMalformed+field, http.StatusBadRequest, "")
		}})
	}
	return append(all, check{"4.3", "a wrong clave is a 401 INVALID_SOL_CREDENTIALS",
		"wrong credentials of the portal are a 401 with code INVALID_SOL_CREDENTIALS", func(v *verdict) {
			v.refusal(askWrongClave, http.StatusUnauthorized, "INVALID_SOL_CREDENTIALS")
		}})
}

// receiptsOf judges the results of the receipts that have a codigo by -cpe.
func (v *verdict) receiptsOf(codigo string, judge func(*exchange, map[string]any)) {
	asked := false
	for _, x := range v.succeeding(validation) {
		if x.codigo != codigo {
			continue
		}
		asked = true
		if x, receipt, ok := v.object(x.name); ok {
			judge(x, receipt)
		}
	}
	if !asked {
		v.skip("no receipt with codigo %s to validate: give one with -cpe FILE", codigo)
	}
}
