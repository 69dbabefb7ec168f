package mockserver_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDeleteAndPutBack(t *testing.T) {
	srv, api := start(t, mockserver.WithContribuyentes(
		mockserver.Contribuyente{RUC: "20000000001", RazonSocial: "UNA PROPIA"}, mockserver.Contribuyente{RUC: "20000000002", RazonSocial: "OTRA PROPIA"}))
	require.NoError(t, srv.DeleteContribuyente("20000000001", "20131312955", "20000000009"))
	api.get("/api/contribuyentes/20000000001").isError(t, 404, "NOT_FOUND")
	api.get(lookup).isError(t, 404, "NOT_FOUND")
	assert.Contains(t, api.get("/api/contribuyentes/search?razonSocial=propia").body, "OTRA PROPIA")
	assert.NotContains(t, api.get("/api/contribuyentes/search?razonSocial=propia").body, "UNA PROPIA")
	require.NoError(t, srv.PutContribuyente(mockserver.Contribuyente{RUC: "20131312955", RazonSocial: "DE VUELTA"}))
	assert.Contains(t, api.get(lookup).body, "DE VUELTA")
	_, other := start(t)
	assert.Contains(t, other.get(lookup).body, "SUPERINTENDENCIA", "the default data are nobody's to change")

	require.NoError(t, srv.Control().DeleteComprobante("20100070970", "01", "F001", 123))
	assert.Contains(t, api.validar(cpe(t)).body, `"codigo":"98"`)
	require.NoError(t, srv.PutComprobante(mockserver.Comprobante{RUCEmisor: "20100070970", Tipo: "01", Serie: "F009", Numero: 1, Codigo: "0"}))
	require.NoError(t, srv.Control().DeleteComprobante("20100070970", "01", "F009", 1))
	assert.Len(t, srv.Data().Comprobantes, 1, "only the default one needs a record of its absence")

	require.NoError(t, srv.PutKey("otra", 1))
	require.NoError(t, srv.DeleteKey("otra"))
	api.withKey("otra").get(lookup).isError(t, 401, "UNAUTHORIZED")
	require.NoError(t, srv.DeleteUsuarioSOL(mockserver.RUCSolicitante, mockserver.UsuarioSOL))
	api.validar(cpe(t)).isError(t, 401, wrongSOL)
}

func TestDeletesRefuseWhatCannotBe(t *testing.T) {
	var f fakeT
	srv := mockserver.New(&f, mockserver.WithoutSocket())
	refused := []error{
		srv.DeleteContribuyente("1"), srv.Control().DeleteComprobante("20100070970", "02", "F001", 1), srv.DeleteUsuarioSOL("20100070970", ""),
		srv.DeleteKey("nadie"), srv.Control().PutData(mockserver.Data{Contribuyentes: []mockserver.Contribuyente{{RUC: "20000000001"}}, Keys: []mockserver.Key{{}}}),
		srv.SetQuotaUsed("nadie", 1), srv.SetQuotaUsed(srv.APIKey, -1), srv.Control().UnblockSOL("20100070970", "NADIE"), srv.Reset("todo"),
	}
	for i, err := range refused {
		assert.ErrorContains(t, err, "mockserver: ", i)
	}
	assert.Len(t, f.errors, len(refused))
	assert.Empty(t, srv.Data().Contribuyentes, "all or nothing")
	_, err := mockserver.Start(mockserver.WithData(mockserver.Data{Keys: []mockserver.Key{{Key: "a b"}}}))
	assert.Error(t, err)
}

func TestSettersRefuseWhatCannotBe(t *testing.T) {
	var f fakeT
	srv := mockserver.New(&f, mockserver.WithoutSocket())
	refused := map[string]error{
		"PutContribuyente":   srv.PutContribuyente(mockserver.Contribuyente{RUC: "2010007097"}),
		"PutComprobante":     srv.PutComprobante(mockserver.Comprobante{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 1, Codigo: "3"}),
		"PutComprobante 2":   srv.PutComprobante(mockserver.Comprobante{RUCEmisor: "2010007097", Tipo: "01", Serie: "F001", Numero: 1, Codigo: "0"}),
		"PutComprobante 3":   srv.PutComprobante(mockserver.Comprobante{RUCEmisor: "20100070970", Tipo: "1", Serie: "F001", Numero: 1, Codigo: "0"}),
		"PutComprobante 4":   srv.PutComprobante(mockserver.Comprobante{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Codigo: "0"}),
		"PutUsuarioSOL":      srv.PutUsuarioSOL(mockserver.SOL{RUC: "20100070970", Usuario: "X"}),
		"PutTipoCambio":      srv.PutTipoCambio("2026-02-30", "3.750", "3.760"),
		"PutTipoCambio 2":    srv.PutTipoCambio("2026-11-20", "3,750", "3.760"),
		"PutTipoCambio 3":    srv.PutTipoCambio("2026-11-20", "3.750", "03.760"),
		"PutTipoCambio 4":    srv.PutTipoCambio("2026-11-20", "0.000", "3.760"),
		"PutTipoCambio 5":    srv.PutTipoCambio("2026-11-21", "3.750", "3.760"),
		"PutTipoCambio 6":    srv.PutTipoCambio("2026-11-20", "-3.750", "3.760"),
		"DeleteTipoCambio":   srv.DeleteTipoCambio("2026-12-25"),
		"DeleteTipoCambio 2": srv.DeleteTipoCambio("ayer"),
		"PutKey":             srv.PutKey("", 1),
		"PutKey 2":           srv.PutKey("otra", -2),
	}
	for name, err := range refused {
		setter, _, _ := strings.Cut(name, " ")
		assert.ErrorContains(t, err, "mockserver: "+setter+": ", name)
	}
	assert.Len(t, f.errors, len(refused), "each fails the test too: %s", strings.Join(f.errors, "\n"))
}

// Setters act while the server serves.
func TestSettersWhileServing(t *testing.T) {
	srv, api := start(t, mockserver.WithQuota(mockserver.Unlimited))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				assert.NoError(t, srv.PutContribuyente(mockserver.Contribuyente{RUC: fmt.Sprintf("2000000%02d%02d", i, j), RazonSocial: "NUEVA SUNAT"}))
				assert.NoError(t, srv.PutComprobante(mockserver.Comprobante{RUCEmisor: "20100070970", Tipo: "01", Serie: "F002", Numero: j + 1, Codigo: "0"}))
				assert.NoError(t, srv.PutTipoCambio("2024-02-29", "3.750", "3.760"))
				assert.NoError(t, srv.PutKey(fmt.Sprint("k", i), j))
				assert.NoError(t, srv.PutUsuarioSOL(mockserver.SOL{RUC: "20100070970", Usuario: fmt.Sprint("USER", i), Clave: "x"}))
				srv.SetSUNATDown(j%2 == 0)
			}
		})
		wg.Go(func() {
			for range 10 {
				for _, call := range four(t, api) {
					assert.Contains(t, []int{200, 500}, call().status)
				}
			}
		})
	}
	wg.Wait()
	srv.SetSUNATDown(false)
	assert.Equal(t, 200, api.validar(cpe(t)).status)
}

// lineT is a T that notes the place of a failure as testing does: the first caller that is no helper.
type lineT struct {
	fakeT
	helpers map[string]bool
	failed  []string
}

func (l *lineT) Helper() { l.helpers[callers()[0].Function] = true }

func (l *lineT) note() {
	for _, frame := range callers() {
		if !l.helpers[frame.Function] {
			l.failed = append(l.failed, filepath.Base(frame.File))
			return
		}
	}
}

func (l *lineT) Errorf(string, ...any) { l.note() }
func (l *lineT) Fatalf(string, ...any) {
	l.note()
	panic(l)
}

// callers are those of the method of lineT.
func callers() (list []runtime.Frame) {
	pcs := make([]uintptr, 20)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		frame, more := frames.Next()
		if !strings.Contains(frame.Function, "lineT") {
			list = append(list, frame)
		}
		if !more {
			return list
		}
	}
}

// A failure points to the test's line, not to one of this package.
func TestAFailureIsTheTestsLine(t *testing.T) {
	for name, journal := range map[string]int{"a journal": 10, "no journal": 0} {
		t.Run(name, func(t *testing.T) { failuresOfSetters(t, journal) })
	}
}

func failuresOfSetters(t *testing.T, journal int) {
	lt := &lineT{helpers: map[string]bool{}}
	srv := mockserver.New(lt, mockserver.WithoutSocket(), mockserver.WithJournal(journal))
	client := srv.Client()
	_, _ = client.Contribuyentes.Consultar(t.Context(), lookedUp)
	for name, fail := range map[string]func(){
		"PutContribuyente":    func() { _ = srv.PutContribuyente(mockserver.Contribuyente{}) },
		"DeleteContribuyente": func() { _ = srv.DeleteContribuyente("1") },
		"PutComprobante":      func() { _ = srv.PutComprobante(mockserver.Comprobante{}) },
		"PutTipoCambio":       func() { _ = srv.PutTipoCambio("ayer", "1", "1") },
		"DeleteTipoCambio":    func() { _ = srv.DeleteTipoCambio("ayer") },
		"PutUsuarioSOL":       func() { _ = srv.PutUsuarioSOL(mockserver.SOL{}) },
		"DeleteUsuarioSOL":    func() { _ = srv.DeleteUsuarioSOL("1", "") },
		"PutKey":              func() { _ = srv.PutKey("", 1) },
		"DeleteKey":           func() { _ = srv.DeleteKey("nadie") },
		"SetQuotaUsed":        func() { _ = srv.SetQuotaUsed("nadie", 1) },
		"SetNow":              func() { _ = srv.SetNow(time.Time{}) },
		"Advance":             func() { _ = srv.Advance(-1 << 62) },
		"Reset":               func() { _ = srv.Reset("todo") },
		"Fault":               func() { srv.Fault(mockserver.Match{Nth: -1}, mockserver.OK) },
		"Client":              func() { srv.Client(fiscope.WithTimeout(-1)) },
		"New":                 func() { mockserver.New(lt, mockserver.WithJournal(-1)) },
		"AssertCalls":         func() { srv.AssertCalls(lt, mockserver.Filter{}, 2) },
		"AssertSpent":         func() { srv.AssertSpent(lt, mockserver.Filter{}, 2) },
		"AssertSOLAttempts":   func() { srv.AssertSOLAttempts(lt, lookedUp, "X", 2) },
		"AssertNoSecrets":     func() { srv.AssertNoSecrets(lt, "/api/") },
		"AssertOrder":         func() { srv.AssertOrder(lt, mockserver.Filter{Op: mockserver.OpValidar}) },
		"AssertPauses":        func() { srv.AssertPauses(lt, mockserver.Filter{}, 0, 0) },
		"AssertFaultsMet": func() {
			srv.Fault(mockserver.Match{}, mockserver.OK)
			srv.AssertFaultsMet(lt)
			srv.ClearFaults()
		},
	} {
		t.Run(name, func(t *testing.T) {
			lt.failed = nil
			func() {
				defer func() { _ = recover() }() // of Fatalf
				fail()
			}()
			assert.Equal(t, []string{"setters_test.go"}, lt.failed)
		})
	}
	for _, c := range lt.cleanups {
		c()
	}
}

// Outside of tests, what cannot be returned panics.
func TestOutsideOfTests(t *testing.T) {
	srv, err := mockserver.Start(mockserver.WithoutSocket())
	require.NoError(t, err)
	defer srv.Close()
	assert.Error(t, srv.PutKey("", 1))
	assert.PanicsWithValue(t, "mockserver: Fault: nth, times y for no pueden ser negativos", func() { srv.Fault(mockserver.Match{Nth: -1}, mockserver.OK) })
	assert.Panics(t, func() { srv.Client(fiscope.WithTimeout(-1)) })
}
