// Package mockserver is the fiscal data service reimplemented, for tests: taxpayers, search, receipt
// validation and the USD/PEN rate, with API keys, a daily quota, Lima time, national holidays and the
// block of a SOL user after wrong attempts. What a client does wrong here it would do wrong there.
//
//	func TestFactura(t *testing.T) {
//		srv := mockserver.New(t) // loopback, closed with the test
//		client := srv.Client()   // or any client of yours, at srv.URL with srv.APIKey
//		...
//	}
//
// The package implements every sentence of the service's contract (docs/contrato.md) that states a behaviour,
// and shares nothing with the SDK but the calendar. It is an [http.Handler]; [Server.Transport] reaches
// it without a socket, also inside a testing/synctest bubble, where days pass at once:
//
//	synctest.Test(t, func(t *testing.T) {
//		srv := mockserver.New(t, mockserver.WithoutSocket())
//		hc := &http.Client{Transport: srv.Transport()}
//		...
//	})
//
// # Default data
//
// A server starts with well-known public bodies and companies (their addresses and dates are plausible,
// not verified), synthetic companies and persons in every estado and condición, receipts of issuer
// 20100070970 in each state (F001-123 accepted, 124 cancelled, 125 pending, 126 not found, 127 query
// error), the SOL users of the constants below, and a rate for every business day since 2020-01-02 that
// nobody can take for a real one: 3.000, plus 0.100 for each year since 2020, plus 0.001 for each day of
// the year; venta is 0.010 above. See data/, and [WithoutDefaultData].
//
// Data of your own lie over it: from setters, or in the one format of [Data], from a file or a folder. What
// was built by hand becomes a fixture, and each part of a server can be put back:
//
//	data, err := mockserver.LoadData("testdata/estado.json") // an error says file, line and reason
//	srv := mockserver.New(t, mockserver.WithData(data))
//	empresa := mockserver.Empresa("20999990097") // active and habido; there are Persona, Factura and UsuarioSecundario too
//	empresa.Condicion = "NO HABIDO"
//	srv.PutContribuyente(empresa)
//	srv.DeleteContribuyente("20131312955")
//	err = srv.Data().Save("testdata/estado.json")
//	srv.Reset(mockserver.PartData, mockserver.PartQuotas) // or Reset() for all
//
// # One clock
//
// "Today" in Lima, publication at 17:00, the quota's reset, the end of a SOL block, the life of a fault,
// the journal and the Date header read one clock ([WithNow], [WithFrozenClock], or [WithClock]). So do the
// clients of [Server.Client] in all that is of the calendar (their cache, their quota, their memory of SOL
// credentials: [fiscope.WithClock]), while all waits are real. A test with a fixed time so says the same in any
// year. Another client is given the clock by you, or goes by its machine's and knows of no new day; and so is code
// that asks for today, since [fiscope.HoyEnLima] is the machine's day:
//
//	srv := mockserver.New(t, mockserver.WithNow(fivePM), mockserver.WithFrozenClock())
//	client := srv.Client()      // or fiscope.NewClient(srv.URL, srv.APIKey, fiscope.WithClock(srv.Now))
//	srv.Advance(24 * time.Hour) // a new day: quota, rates and SOL users, for the server and the client
//	hoy := fiscope.FechaEnLima(srv.Now())
//	srv.SetNow(monday)          // from 1970 to 9000: what it cannot show is an error and moves nothing
//	srv.Resume()
//
// # Faults
//
// A fault meets the calls that a [Match] says: by operation, key, RUC, User-Agent, the n-th, or with a
// probability from a seed; once, n times, for a time, or until it is removed. It acts after the call was
// charged, so that an answer that was paid for is lost, or before with Uncharged; an answer of its own costs
// what ChargeFailures says of its status. A client that leaves meanwhile is noticed. Several steps are a
// sequence. The presets ([Presets]) are failures that services like this one have; docs/faults.md shows
// what the SDK makes of each.
//
//	srv.Fault(mockserver.Match{Op: mockserver.OpConsultar}, mockserver.Status(500), mockserver.OK) // 500, then 200
//	srv.Fault(mockserver.Match{RUC: "20100070970", Nth: 2}, mockserver.ResetBefore)                // paid for and lost
//	srv.Fault(mockserver.Match{Probability: 0.1, Seed: 7}, mockserver.LogNormal(time.Second, 0.6))
//	srv.Fault(mockserver.Match{For: time.Hour}, mockserver.Status(429).And(mockserver.RetryAfter("30")).Uncharged())
//	gate := srv.Fault(mockserver.Match{}, mockserver.Hold())
//	gate.Release()
//
// Over [Server.Transport] a reset is the same *net.OpError with ECONNRESET that a socket gives. What waits
// (latency, slow bodies, hangs) passes real time, or a bubble's, and ends when the client leaves or the
// server closes.
//
// # Journal
//
// The last 1000 requests of each key ([WithJournal]) with their answers, costs, connections and faults.
// Of a receipt validation it keeps the seven fields, without the clave, also where that stands in another one of
// them. Of all the rest it keeps no key of the server that has 6 characters or more, as it is or in the escapes of
// URLs, JSON and HTML, also when the server comes to know it later; in capitals or base64 a key is not found, and
// the words of the contract's paths stay. A failed assertion prints the journal, and
// says of each request why it was not counted. Once a request was dropped that may count, assertions fail, and
// say which size is enough; [Server.Totals] counts all, whatever was dropped or reset.
//
//	srv.AssertCalls(t, mockserver.Filter{Op: mockserver.OpConsultar, Status: 200}, 2)
//	srv.AssertSpent(t, mockserver.Filter{}, 3)
//	srv.AssertSOLAttempts(t, ruc, usuario, 1)
//	srv.AssertNoSecrets(t, clave)
//	srv.AssertFaultsMet(t) // none was set in vain
//	srv.AssertOrder(t, mockserver.Filter{Op: mockserver.OpConsultar}, mockserver.Filter{Op: mockserver.OpValidar})
//	srv.AssertInFlight(t, mockserver.Filter{}, 4) // never more than 4 at the same time
//	srv.AssertPauses(t, mockserver.Filter{Status: 503}, time.Second, 10*time.Second)
//	srv.AssertHeader(t, mockserver.Filter{}, "User-Agent", "facturador/2.1")
//	reqs, err := srv.WaitRequests(ctx, mockserver.Filter{Op: mockserver.OpValidar}, 1) // does not poll
//	changes, rev, err := srv.Changes(ctx, rev, mockserver.Filter{}) // what happened since
//
// # Tenants
//
// An API key has its own quota, journal and, through [Server.Tenant], faults, so that test processes that
// run at once share one server:
//
//	srv.PutKey("proceso-1", 100)
//	tenant := srv.Tenant("proceso-1")
//	tenant.Fault(mockserver.Match{}, mockserver.Hang) // nobody else hangs
//	tenant.Requests()
//	tenant.Reset()
//
// # One request, one order
//
// Route, key, faults before the charge, quota, validation, data, faults after it. A refused path, method
// or key and a spent quota consume nothing; every other call consumes one. Within a receipt validation:
// the body, the seven fields, then the tax authority (500 while it is down, never counted as an attempt),
// then the SOL user, then the receipt.
//
// Every answer that is not 2xx is JSON with a non-empty error, in Spanish, that says what was wrong and
// which rule it is, and a non-empty code, unless an assumption has it otherwise. A code that begins with MOCK_ is this mock's own, for what the
// contract does not know: MOCK_NO_ROUTE 404, MOCK_METHOD 405, MOCK_MEDIA_TYPE 415, MOCK_BODY_TOO_LARGE
// 413 (over 64 KiB), MOCK_INVALID_JSON 400, MOCK_UNREADABLE_BODY 400, MOCK_INVALID_QUERY 400 (bad
// escapes, not UTF-8), MOCK_REPEATED_PARAM 400 (a parameter given twice), MOCK_REGISTRY_FAILURE 500.
// Only what never reaches a handler, a request line or header that is not HTTP, is answered by net/http
// itself, as plain text.
//
// # Assumptions
//
// What the contract calls "not shown" or leaves undetermined is a field of [Assumptions], and [OpenPoints] is the
// list. [Server.SetAssumptions] changes them while it serves. [EachAssumption] runs a test under every reading of
// each, and under such combinations of them that every two meet over which a client can trip together, some
// eighty in all, so that nothing in it hangs on a guess:
//
//	mockserver.EachAssumption(t, func(t *testing.T, a mockserver.Assumptions) {
//		srv := mockserver.New(t, mockserver.WithAssumptions(a))
//		...
//	})
//
//	Field                   Default             Section  Reason
//	MissingKey              401 UNAUTHORIZED    5.4      the status HTTP has for it
//	InvalidKey              401 UNAUTHORIZED    5.4      as for MissingKey; the error text tells them apart
//	QuotaExceeded           429 QUOTA_EXCEEDED  7, 8     the status HTTP has for it
//	KeyBody                 ErrorBodyContract   5.4, 7   the form that all errors have
//	QuotaBody               ErrorBodyContract   7, 8     the form that all errors have
//	Quota                   1000                8        enough for a test suite, small enough to reach
//	ResetZone               fiscope.Lima        8        a "daily" quota of a Peruvian service: 05:00 UTC
//	ResetRolling            false               8        a "daily" quota is of a day, not of 24 hours
//	ResetForm               ResetSeconds        8        the shortest that every reader of ISO 8601 takes
//	QuotaRetryAfter         RetryAfterNone      7, 8     the contract names three headers, and not this one
//	ChargeFailures          true                8        "each call ... consumes 1 query"
//	ChargeInvalid           true                8        as for ChargeFailures: each call
//	ChargeSOLRefused        true                8        as for ChargeFailures: each call
//	ChargeNotFound          true                8        as for ChargeFailures: each call
//	ChargeUnavailable       true                8        as for ChargeFailures: each call
//	HeadersEverywhere       false               8        documented for lookup only
//	HeadersOnErrors         true                4.1, 8   "response carries", whatever its status
//	CodeInvalidRUC          INVALID_RUC         7        says what it is
//	CodeInvalidLimit        INVALID_LIMIT       7        says what it is
//	CodeMissingFields       MISSING_FIELDS      7        says what it is
//	CodeInvalidCPERUC       INVALID_RUC         7        the same fault as in lookup
//	CodeInvalidField        INVALID_FIELD       2.3, 7   no row for it: a wrong type, tipoComprobante or numero
//	CodeInvalidDate         INVALID_DATE        7        says what it is
//	CodeSUNATUnavailable    SUNAT_UNAVAILABLE   7        says what it is
//	Unknown                 UnknownAsPut        2.1      a record is served as it was put
//	CountBlanks             false               4.2      blanks are no text to search
//	SearchByWords           false               4.2      "the text may occur anywhere in the name": the text, not its words
//	Estados                 EstadosTabla        3.1      the table, with meanings; the other list has none
//	PrincipalSOL            as a wrong clave    4.3      never valid here: wrong credentials
//	BlockedSOL              as a wrong clave    4.3      what the credentials are is not told to one who guesses
//	UnknownSOL              as a wrong clave    4.3, 7   "wrong portal user or password"
//	BlockAfter              3                   4.3      a strict value for tests: published nowhere
//	BlockFor                30m                 4.3      as invented; while it lasts the right clave is refused too
//	PublicationDelay        0                   4.4      "normally" at 17:00 Lima, the only hour given
//	ImpossibleDateNotFound  false               4.4      a day that no calendar has is no date
//
// No field has: how a key is issued (5.3: [WithKey], [Server.PutKey]), transitions (3: data only change
// when a setter changes them), events (6) and versioning (9): there are none.
package mockserver
