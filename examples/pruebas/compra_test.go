package pruebas

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

var factura = fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123}

// nueva returns your code with a client of the mock: each test has a server of its own, on loopback, that ends with it.
func nueva(t *testing.T, opts ...mockserver.Option) (Compra, *mockserver.Server) {
	t.Helper()
	srv := mockserver.New(t, opts...)
	client := srv.Client()
	t.Cleanup(func() { _ = client.Close(context.Background()) })
	return Compra{client, fiscope.CredencialesSOL{
		RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL, Clave: fiscope.NewSecreto(mockserver.ClaveSOL),
	}}, srv
}

func decide(t *testing.T, c Compra, comprobante fiscope.Comprobante, want ...Decision) {
	t.Helper()
	got, err := c.Decidir(t.Context(), comprobante)
	if err != nil || !slices.Contains(want, got) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// Data: put what your code should meet.
func TestWhatItDecides(t *testing.T) {
	cases := []struct {
		name   string
		put    func(*mockserver.Server) error
		number int
		want   Decision
	}{
		{"accepted", nil, 123, Pagar},
		{"cancelled", nil, 124, NoPagar},
		{"pending", nil, 125, Esperar},
		{"not found", nil, 126, NoPagar},
		{"the query failed", nil, 127, Esperar},
		{"an issuer that is not habido", func(s *mockserver.Server) error {
			emisor := mockserver.Empresa("20100070970")
			emisor.Condicion = "NO HABIDO"
			return s.PutContribuyente(emisor)
		}, 123, NoPagar},
		{"an issuer that does not exist", func(s *mockserver.Server) error { return s.DeleteContribuyente("20100070970") }, 123, NoPagar},
		{"a receipt of your own", func(s *mockserver.Server) error {
			return s.PutComprobante(mockserver.Factura("20100070970", "F001", 900))
		}, 900, Pagar},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c, srv := nueva(t)
			if tc.put != nil {
				if err := tc.put(srv); err != nil {
					t.Fatal(err)
				}
			}
			comprobante := factura
			comprobante.Numero = tc.number
			decide(t, c, comprobante, tc.want)
		})
	}
}

// Faults: a 500 and then the answer. The client tries a lookup again, so your code notices nothing.
func TestALookupThatFailsOnceIsTriedAgain(t *testing.T) {
	c, srv := nueva(t)
	srv.Fault(mockserver.Match{Op: mockserver.OpConsultar}, mockserver.Status(500), mockserver.OK)
	decide(t, c, factura, Pagar)
	srv.AssertFaultsMet(t)
	srv.AssertOrder(t, mockserver.Filter{Op: mockserver.OpConsultar, Status: 500},
		mockserver.Filter{Op: mockserver.OpConsultar, Status: 200}, mockserver.Filter{Op: mockserver.OpValidar})
}

// An answer that was paid for and is lost. A validation is not repeated: it could be a second refusal.
func TestALostAnswerIsPaidOnce(t *testing.T) {
	c, srv := nueva(t)
	srv.Fault(mockserver.Match{Op: mockserver.OpValidar}, mockserver.ResetBefore)
	decide(t, c, factura, Esperar)
	srv.AssertCalls(t, mockserver.Filter{Op: mockserver.OpValidar}, 1)
	srv.AssertSpent(t, mockserver.Filter{Op: mockserver.OpValidar}, 1)
}

// The clock: one minute before publication, and after it. The client of srv.Client() goes by the mock's, so this test says
// the same in any year.
func TestBeforeAndAfterFiveInTheAfternoon(t *testing.T) {
	for hour, want := range map[string]Decision{"2026-11-20 16:59:00": Esperar, "2026-11-20 17:00:00": Pagar} {
		t.Run(hour, func(t *testing.T) {
			at, err := time.ParseInLocation(time.DateTime, hour, fiscope.Lima)
			if err != nil {
				t.Fatal(err)
			}
			c, _ := nueva(t, mockserver.WithNow(at), mockserver.WithFrozenClock())
			venta, got, err := c.Tarifa(t.Context(), fiscope.NewFecha(2026, time.November, 21))
			if err != nil || got != want || (venta != "") != (want == Pagar) {
				t.Errorf("got %q, %q, %v, want %q", venta, got, err, want)
			}
		})
	}
}

// The quota ends, and begins anew at midnight in Lima.
func TestTheQuotaEndsAndComesBack(t *testing.T) {
	c, srv := nueva(t, mockserver.WithQuota(3))
	for _, want := range []Decision{Pagar, Mañana, Mañana} {
		decide(t, c, factura, want)
	}
	srv.AssertSpent(t, mockserver.Filter{}, 3)
	if err := srv.Advance(24 * time.Hour); err != nil { // a new day for both
		t.Fatal(err)
	}
	decide(t, c, factura, Pagar)
}

// Waits are real: in a synctest bubble they pass at once, and the mock says how long the client has waited.
func TestItWaitsAsLongAsTheServiceAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, srv := nueva(t, mockserver.WithoutSocket())
		srv.Fault(mockserver.Match{Op: mockserver.OpConsultar, Times: 1}, mockserver.Status(503).And(mockserver.RetryAfter("3")))
		decide(t, c, factura, Pagar)
		srv.AssertPauses(t, mockserver.Filter{Op: mockserver.OpConsultar}, 3*time.Second, 4*time.Second)
	})
}

// A wrong clave: a hundred goroutines cost one attempt, and the user is not locked.
func TestAWrongClaveIsTriedOnce(t *testing.T) {
	c, srv := nueva(t)
	c.credenciales.Clave = fiscope.NewSecreto("no-es-la-clave")
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() { decide(t, c, factura, Corregir) })
	}
	wg.Wait()
	srv.AssertSOLAttempts(t, mockserver.RUCSolicitante, mockserver.UsuarioSOL, 1)
	srv.AssertNoSecrets(t, "no-es-la-clave")
}

// Every reading of what the contract leaves open: your code must not hang on a guess.
func TestUnderEveryAssumption(t *testing.T) {
	mockserver.EachAssumption(t, func(t *testing.T, a mockserver.Assumptions) {
		c, _ := nueva(t, mockserver.WithAssumptions(a))
		decide(t, c, factura, Pagar, Mañana)
	})
}
