package contracttest

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

// exchange is one request to the mock server, and what must come back.
type exchange struct {
	name, method, target, body string

	status int
	code   string // only where docs/contract.md, 7, gives one
	when   state
}

// state is how the server stands that an exchange is made with, and the key.
type state string

const (
	usual     state = ""
	early     state = "before 17:00 in Lima"
	sunatDown state = "the tax authority does not respond"
	spent     state = "the quota is spent"
	keyless   state = "without a key"
)

func get(name, target string, status int, code string) exchange {
	return exchange{name: name, method: http.MethodGet, target: target, status: status, code: code}
}

// receipt is a validation: the request sample, with old replaced by new.
func receipt(t *testing.T, name, old, new string, status int, code string) exchange {
	t.Helper()
	sample := readSample(t, requestSample)
	body := strings.Replace(sample, old, new, 1)
	require.True(t, old == new || body != sample, "%s: the edit must change the sample", name)
	return exchange{name: name, method: http.MethodPost, target: cpePath, body: body, status: status, code: code}
}

// in is the exchange with a server in another state.
func (e exchange) in(when state) exchange {
	e.when = when
	return e
}

// options make a server that stands as the exchange needs it.
func (e exchange) options() []mockserver.Option {
	now, opts := fridayEvening, []mockserver.Option{mockserver.WithData(receiptData())}
	switch e.when {
	case early:
		now = fridayAfternoon
	case sunatDown:
		opts = append(opts, mockserver.WithSUNATDown())
	case spent:
		opts = append(opts, mockserver.WithQuota(0))
	}
	return append(opts, mockserver.WithClock(func() time.Time { return now }))
}

// The publication of the rate of 20 November 2026, a Friday, lies between these two.
var (
	fridayAfternoon = time.Date(2026, time.November, 20, 21, 0, 0, 0, time.UTC) // 16:00 in Lima
	fridayEvening   = time.Date(2026, time.November, 20, 23, 0, 0, 0, time.UTC) // 18:00
)

// receiptData is what the request sample asks for, and one receipt in each other state.
func receiptData() mockserver.Data {
	data := mockserver.Data{Usuarios: []mockserver.SOL{{RUC: "20131312955", Usuario: "MIUSER01", Clave: "claveFalsa12"}}}
	for numero, codigo := range map[int]string{123: "0", 2: "2", 4: "4", 98: "98", 99: "99"} {
		data.Comprobantes = append(data.Comprobantes, mockserver.Comprobante{
			RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: numero, Codigo: codigo,
		})
	}
	return data
}

// exchanges reaches every status that the contract documents, and more than once where the contract
// gives more than one reason for it.
func exchanges(t *testing.T) []exchange {
	t.Helper()
	const lookup, search, rate = "/api/contribuyentes/", "/api/contribuyentes/search?razonSocial=", "/api/tipocambio"
	return []exchange{
		get("lookup", lookupPath, 200, ""),
		get("lookup of nobody", lookup+"99999999999", 404, "NOT_FOUND"),
		get("lookup of 10 digits", lookup+"2013131295", 400, ""),
		get("lookup of 12 digits", lookup+"201313129550", 400, ""),
		get("lookup of a letter", lookup+"2013131295X", 400, ""),

		get("search", searchPath, 200, ""),
		get("search without matches", search+"zzzzzz", 200, ""),
		get("search, lowest limit", searchPath+"&limit=1", 200, ""),
		get("search, highest limit", searchPath+"&limit=50", 200, ""),
		get("search, three letters, six bytes", search+"%C3%B1%C3%A1%C3%B1", 200, ""),
		get("search, two letters", search+"pe", 400, "SEARCH_TOO_SHORT"),
		get("search, limit 0", searchPath+"&limit=0", 400, ""),
		get("search, limit 51", searchPath+"&limit=51", 400, ""),
		get("search, limit in words", searchPath+"&limit=diez", 400, ""),

		receipt(t, "receipt accepted", "", "", 200, ""),
		receipt(t, "receipt cancelled", "123", "2", 200, ""),
		receipt(t, "receipt pending", "123", "4", 200, ""),
		receipt(t, "receipt not found", "123", "98", 200, ""),
		receipt(t, "receipt never heard of", "123", "77777", 200, ""),
		receipt(t, "receipt, query failed", "123", "99", 200, ""),
		receipt(t, "receipt without serie", `"serie": "F001",`, "", 400, ""),
		receipt(t, "receipt with null numero", "123", "null", 400, ""),
		receipt(t, "receipt with a numero in quotes", "123", `"123"`, 400, ""),
		receipt(t, "receipt of an unknown type", `"01"`, `"02"`, 400, ""),
		receipt(t, "receipt with a malformed issuer", "20100070970", "2010007097", 400, ""),
		receipt(t, "receipt with a malformed caller", "20131312955", "2013131295A", 400, ""),
		receipt(t, "receipt that is not JSON", "{", "", 400, ""),
		receipt(t, "receipt with a wrong clave", "claveFalsa12", "claveFalsa13", 401, "INVALID_SOL_CREDENTIALS"),
		receipt(t, "receipt with an unknown user", "MIUSER01", "MIUSER99", 401, "INVALID_SOL_CREDENTIALS"),
		receipt(t, "receipt, authority down", "", "", 500, "").in(sunatDown),

		get("rate", ratePath, 200, ""),
		get("rate of today", rate, 200, ""),
		get("rate of today, before 17:00", rate, 404, "NOT_FOUND").in(early),
		get("rate of a Saturday", rate+"?fecha=2026-11-14", 404, "NOT_FOUND"),
		get("rate of a holiday", rate+"?fecha=2026-07-28", 404, "NOT_FOUND"),
		get("rate of tomorrow", rate+"?fecha=2026-11-21", 404, "NOT_FOUND"),
		get("rate, another format", rate+"?fecha=20-11-2026", 400, ""),
		get("rate of 30 February", rate+"?fecha=2026-02-30", 400, ""),
	}
}

// undocumented is what the contract calls "not shown": the statuses are the mock's assumptions, and
// only the body's shape (docs/contract.md, 7) is judged.
func undocumented(t *testing.T) []exchange {
	t.Helper()
	var list []exchange
	for _, e := range []exchange{
		get("lookup", lookupPath, 0, ""),
		get("search", searchPath, 0, ""),
		receipt(t, "receipt", "", "", 0, ""),
		get("rate", ratePath, 0, ""),
	} {
		withoutKey, beyond := e.in(keyless), e.in(spent)
		withoutKey.name += " without a key"
		withoutKey.status = mockserver.DefaultAssumptions().MissingKey.Status
		beyond.name += " beyond the quota"
		beyond.status = mockserver.DefaultAssumptions().QuotaExceeded.Status
		list = append(list, withoutKey, beyond)
	}
	return list
}
