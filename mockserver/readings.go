package mockserver

import "time"

// Reading is one way to read the contract: the default, or the default with one field changed.
type Reading struct {
	Name        string // "default", or the field with its value: "QuotaExceeded=403 FORBIDDEN"
	Assumptions Assumptions
}

// Readings returns the default reading, and each field of [Assumptions] changed to each other value that
// services like this one are known for.
func Readings() []Reading {
	readings := []Reading{{"default", DefaultAssumptions()}}
	other := func(name string, change func(*Assumptions)) {
		a := DefaultAssumptions()
		change(&a)
		readings = append(readings, Reading{name, a})
	}
	other("MissingKey=403 FORBIDDEN", func(a *Assumptions) { a.MissingKey = Refusal{403, "FORBIDDEN"} })
	other("MissingKey=400 BAD_REQUEST", func(a *Assumptions) { a.MissingKey = Refusal{400, "BAD_REQUEST"} })
	other("InvalidKey=403 FORBIDDEN", func(a *Assumptions) { a.InvalidKey = Refusal{403, "FORBIDDEN"} })
	other("QuotaExceeded=403 QUOTA_EXCEEDED", func(a *Assumptions) { a.QuotaExceeded = Refusal{403, "QUOTA_EXCEEDED"} })
	other("QuotaExceeded=401 UNAUTHORIZED", func(a *Assumptions) { a.QuotaExceeded = Refusal{401, "UNAUTHORIZED"} })
	other("QuotaExceeded=503 UNAVAILABLE", func(a *Assumptions) { a.QuotaExceeded = Refusal{503, "UNAVAILABLE"} })
	other("Quota=Unlimited", func(a *Assumptions) { a.Quota = Unlimited })
	other("ResetZone=UTC", func(a *Assumptions) { a.ResetZone = time.UTC })
	other("ChargeFailures=false", func(a *Assumptions) { a.ChargeFailures = false })
	other("HeadersEverywhere=true", func(a *Assumptions) { a.HeadersEverywhere = true })
	other("HeadersOnErrors=false", func(a *Assumptions) { a.HeadersOnErrors = false })
	const one = "BAD_REQUEST" // one code for all that is wrong with a request
	other("CodeInvalidRUC=BAD_REQUEST", func(a *Assumptions) { a.CodeInvalidRUC = one })
	other("CodeInvalidLimit=BAD_REQUEST", func(a *Assumptions) { a.CodeInvalidLimit = one })
	other("CodeMissingFields=BAD_REQUEST", func(a *Assumptions) { a.CodeMissingFields = one })
	other("CodeInvalidCPERUC=BAD_REQUEST", func(a *Assumptions) { a.CodeInvalidCPERUC = one })
	other("CodeInvalidField=BAD_REQUEST", func(a *Assumptions) { a.CodeInvalidField = one })
	other("CodeInvalidDate=BAD_REQUEST", func(a *Assumptions) { a.CodeInvalidDate = one })
	other("CodeSUNATUnavailable=INTERNAL_ERROR", func(a *Assumptions) { a.CodeSUNATUnavailable = "INTERNAL_ERROR" })
	other("Estados=lista", func(a *Assumptions) { a.Estados = EstadosLista })
	other("Estados=sunat", func(a *Assumptions) { a.Estados = EstadosSUNAT })
	other("BlockAfter=1", func(a *Assumptions) { a.BlockAfter = 1 })
	other("BlockAfter=0", func(a *Assumptions) { a.BlockAfter = 0 })
	other("BlockFor=24h", func(a *Assumptions) { a.BlockFor = 24 * time.Hour })
	other("PublicationDelay=16h", func(a *Assumptions) { a.PublicationDelay = 16 * time.Hour })
	return readings
}

// EachAssumption runs a test under every reading of what the contract leaves open, a subtest each: what
// passes in all of them does not depend on a guess. With [testing.T]:
//
//	mockserver.EachAssumption(t, func(t *testing.T, a mockserver.Assumptions) {
//		srv := mockserver.New(t, mockserver.WithAssumptions(a))
//		...
//	})
func EachAssumption[TB interface {
	Run(name string, test func(TB)) bool
}](t TB, test func(TB, Assumptions)) {
	for _, r := range Readings() {
		t.Run(r.Name, func(t TB) { test(t, r.Assumptions) })
	}
}
