package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// answersFor checks that a taxpayer or a rate has the ruc or fecha that was asked for.
func answersFor(name string) func(*verdict, *exchange) {
	return func(v *verdict, x *exchange) {
		if object, ok := success[map[string]any](v, x); ok && object[name] != x.request.asked {
			v.wrong(x, "%s is %s: want the one that was asked for", name, member(object, name))
		}
	}
}

// ofToday accepts today's rate, or a 404 with NOT_FOUND. Today is the date of the server's clock, in Lima or in UTC.
func ofToday(v *verdict, x *exchange) {
	if x.answer.status == http.StatusNotFound {
		v.refusal(x, http.StatusNotFound, "NOT_FOUND")
		return
	}
	tc, ok := success[map[string]any](v, x)
	fecha, _ := tc["fecha"].(string)
	if day, err := time.Parse(time.DateOnly, fecha); ok && (err != nil || day.Sub(x.clock()) > 0 || day.Sub(x.clock()) < -29*time.Hour) {
		v.wrong(x, "fecha is %s: want today", member(tc, "fecha"))
	}
}

// rucs returns the RUCs of the results of a search, "" if missing.
func rucs(list []any) (all []string) {
	for _, one := range list {
		object, _ := one.(map[string]any)
		ruc, _ := object["ruc"].(string)
		all = append(all, ruc)
	}
	return all
}

// finds checks that a search found the taxpayer of the lookup. If the results reach the limit, that may come after
// them.
func (v *verdict) finds(x *exchange) {
	switch list, ok := success[[]any](v, x); {
	case !ok, slices.Contains(rucs(list), v.named[askLookup].request.asked):
	case len(list) >= mostResults:
		v.skipped = fmt.Sprintf("%d others have the text in their names: give a -ruc with a longer razonSocial", len(list))
	default:
		v.wrong(x, "the taxpayer of -ruc is not among the %d results, and the text stands in its razonSocial", len(list))
	}
}

// returns checks how many results a search has.
func returns(least, most int) func(*verdict, *exchange) {
	return func(v *verdict, x *exchange) {
		switch list, ok := success[[]any](v, x); {
		case !ok:
		case len(list) < least:
			v.wrong(x, "there are %d results: want %d at least, since -search is to have more than ten matches", len(list), least)
		case len(list) > most:
			v.wrong(x, "there are %d results: want %d at most", len(list), most)
		}
	}
}

// firstOfLarger is what can be seen of "ordered by relevance" (docs/contract.md, 4.2).
var firstOfLarger = check{"4.2/a smaller limit returns the first of a larger one", func(v *verdict) {
	for _, of := range [][2]string{{askSearchOne, askSearchTen}, {askSearchTen, askSearchFifty}} {
		smaller, ok := v.answered(of[0])
		larger, also := v.answered(of[1])
		if !ok || !also {
			continue
		}
		some, ok := success[[]any](v, smaller)
		all, also := success[[]any](v, larger)
		if ok && also && !slices.Equal(rucs(all)[:min(len(all), len(some))], rucs(some)) {
			v.wrong(larger, "its results do not begin with the %d of the smaller limit", len(some))
		}
	}
}}

// receiptChecks returns the checks of the receipts of -cpe, for each type and codigo (docs/contract.md, 2.3, 2.4, 3.3
// and 4.3).
func receiptChecks() (all []check) {
	add := func(name, kind string, are func(*exchange) bool, judge func(*verdict, *exchange, map[string]any)) {
		all = append(all, check{name, func(v *verdict) {
			v.skipped = "no receipt with " + kind + " to validate: give one with -cpe FILE"
			for _, x := range v.exchanges {
				if x.tipo == "" || !are(x) {
					continue
				}
				v.skipped = ""
				if x, ok := v.answered(x.name); ok {
					if receipt, ok := success[map[string]any](v, x); ok {
						judge(v, x, receipt)
					}
				}
			}
		}})
	}
	for _, tipo := range tipos {
		add("2.3/tipoComprobante "+tipo+" is allowed", "tipoComprobante "+tipo, func(x *exchange) bool { return x.tipo == tipo },
			func(*verdict, *exchange, map[string]any) {})
	}
	for codigo, estado := range resultados {
		add("2.4/codigo "+codigo+" is "+estado, "codigo "+codigo, func(x *exchange) bool { return x.codigo == codigo },
			func(v *verdict, x *exchange, receipt map[string]any) {
				if receipt["codigo"] != codigo || receipt["estado"] != estado {
					v.wrong(x, "codigo is %s and estado %s: want %q, as -cpe has it, and %q", member(receipt, "codigo"), member(receipt, "estado"), codigo, estado)
				} else if valid := codigo == "0"; receipt["esValido"] != valid && codigo != "99" { // the contract leaves it open for an error
					v.wrong(x, "esValido is %s: want %t", member(receipt, "esValido"), valid)
				}
			})
	}
	return all
}
