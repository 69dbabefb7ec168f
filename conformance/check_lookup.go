package conformance

import "net/http"

// lookupChecks are those of docs/contrato.md, 4.1.
func lookupChecks() []check {
	refusal := func(name, says, question string, status int, code string) check {
		return check{"4.1", name, says, func(v *verdict) { v.refusal(question, status, code) }}
	}
	const digits = "a ruc that is not 11 numeric digits is a 400"
	return []check{
		{"4.1", "a taxpayer is an object", "success is a JSON object, the taxpayer of the RUC that was asked for",
			func(v *verdict) {
				if x, taxpayer, ok := v.object(askLookup); ok && taxpayer["ruc"] != x.ruc() {
					v.wrong(x, "ruc is %s: want the one that was asked for", member(taxpayer, "ruc"))
				}
			}},
		refusal("10 digits are a 400", digits, askTenDigits, http.StatusBadRequest, ""),
		refusal("12 digits are a 400", digits, askTwelveDigits, http.StatusBadRequest, ""),
		refusal("a letter is a 400", digits, askLetter, http.StatusBadRequest, ""),
		refusal("a RUC that nobody has is a 404 NOT_FOUND", "a RUC that no taxpayer has is a 404 with code NOT_FOUND",
			askNobody, http.StatusNotFound, "NOT_FOUND"),
	}
}
