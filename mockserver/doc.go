// Package mockserver is the fiscal data service reimplemented, for tests: taxpayers, search, receipt validation and the
// USD/PEN rate, with API keys, a daily quota, Lima time, national holidays and the block of a SOL user after wrong attempts.
//
//	func TestFactura(t *testing.T) {
//		srv := mockserver.New(t) // loopback, closed with the test
//		client := srv.Client()   // or any client of yours, at srv.URL with srv.APIKey
//		...
//	}
//
// It implements every behaviour in docs/contract.md, and shares only the calendar with the SDK. In a testing/synctest
// bubble, where days pass instantly, use [WithoutSocket].
//
// # Data
//
// A server starts with the data of docs/sample-data.md: its key and SOL users are constants, from [DefaultAPIKey] to
// [ClavePrincipal]. Add your own with setters, or from a file or folder.
//
//	data, err := mockserver.LoadData("testdata/estado.json") // an error says file, line and reason
//	srv := mockserver.New(t, mockserver.WithData(data))
//	empresa := mockserver.Empresa("20999990097") // active and habido; there are Persona, Factura and UsuarioSecundario too
//	empresa.Condicion = "NO HABIDO"
//	srv.PutContribuyente(empresa)
//	err = srv.Data().Save("testdata/estado.json")
//	srv.Reset(mockserver.PartData, mockserver.PartQuotas) // or Reset() for all
//
// [WithRecording] answers with what a real service answered to fiscope-mock -record. What is not in the recording gets a 501:
//
//	srv := mockserver.New(t, mockserver.WithRecording("testdata/real.json"))
//	srv.AssertCalls(t, mockserver.Filter{Unmatched: true}, 0) // at the end: everything was recorded
//
// # Time
//
// One clock gives the time in Lima for rates, quotas, SOL blocks, faults, the journal and the clients of [Server.Client].
// Only waits take real time.
//
//	srv := mockserver.New(t, mockserver.WithNow(fivePM), mockserver.WithFrozenClock())
//	srv.Advance(24 * time.Hour) // a new day: quota, rates and SOL users, for the server and the client
//
// # Faults and the journal
//
// A fault meets the calls that a [Match] selects: after they are charged, or before with Uncharged. docs/faults.md lists
// the [Presets] and the SDK's results. The journal has each key's last 1000 requests, without secrets.
//
//	srv.Fault(mockserver.Match{Op: mockserver.OpConsultar}, mockserver.Status(500), mockserver.OK) // 500, then 200
//	srv.Fault(mockserver.Match{RUC: "20100070970", Nth: 2}, mockserver.ResetBefore)                // paid for and lost
//	srv.AssertCalls(t, mockserver.Filter{Op: mockserver.OpConsultar, Status: 200}, 2)
//	srv.AssertFaultsMet(t) // none was set in vain
//
// # The order of a request
//
// Route, key, faults before the charge, quota, validation, data, faults after the charge. A wrong path, method or key and
// a spent quota cost nothing; every other call costs one query. The mock's own codes begin with MOCK_.
package mockserver
