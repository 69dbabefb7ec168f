package mockserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

// A server outside tests, at five in the afternoon in Lima, read with nothing but net/http.
func ExampleStart() {
	five := time.Date(2026, time.November, 20, 17, 0, 0, 0, fiscope.Lima)
	srv, err := mockserver.Start(
		mockserver.WithClock(func() time.Time { return five }),
		mockserver.WithTipoCambio("2026-11-20", "3.750", "3.760"),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = srv.Close() }()

	req, err := http.NewRequest(http.MethodGet, srv.URL+"/api/tipocambio", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	req.Header.Set("X-API-KEY", srv.APIKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	fmt.Print(string(body))
	fmt.Println(err)
	// Output:
	// {"compra":3.750,"venta":3.760,"moneda":"USD","fecha":"2026-11-20","origen":"SBS"}
	// <nil>
}

// A lookup that fails once, and the client that tries again: two calls, two queries.
func ExampleServer_Fault() {
	srv, err := mockserver.Start(mockserver.WithoutSocket())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = srv.Close() }()
	srv.Fault(mockserver.Match{Op: mockserver.OpConsultar}, mockserver.Status(500), mockserver.OK)

	_, err = srv.Client(fiscope.WithRetry(fiscope.RetryPolicy{Base: -1})).Contribuyentes.Consultar(context.Background(), "20331898008")
	fmt.Println(err)
	for _, r := range srv.Requests() {
		fmt.Println(r.Method, r.Path, r.Status, r.Cost)
	}
	// Output:
	// <nil>
	// GET /api/contribuyentes/20331898008 500 1
	// GET /api/contribuyentes/20331898008 200 1
}

// A new day brings a new quota, and the client knows it: it did not ask while there was none.
func ExampleServer_Advance() {
	noon := time.Date(2026, time.November, 20, 12, 0, 0, 0, fiscope.Lima)
	srv, err := mockserver.Start(mockserver.WithoutSocket(), mockserver.WithNow(noon), mockserver.WithFrozenClock(), mockserver.WithQuota(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = srv.Close() }()
	client := srv.Client()
	for range 3 {
		_, err = client.Contribuyentes.Consultar(context.Background(), "20131312955")
	}
	fmt.Println(errors.Is(err, fiscope.ErrQuotaExceeded), len(srv.Requests()))
	srv.Advance(12 * time.Hour)
	_, err = client.Contribuyentes.Consultar(context.Background(), "20131312955")
	fmt.Println(err, len(srv.Requests()))
	// Output:
	// true 1
	// <nil> 2
}

// A state built by hand becomes a fixture.
func ExampleServer_Data() {
	srv, err := mockserver.Start(mockserver.WithoutSocket(), mockserver.WithAPIKey("clave-1"), mockserver.WithQuota(5))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = srv.Close() }()
	_ = srv.PutTipoCambio("2026-11-20", "3.750", "3.760")
	_ = srv.DeleteContribuyente("20131312955")
	_ = srv.Data().Write(os.Stdout)
	// Output:
	// {
	//   "tiposCambio": [
	//     {
	//       "fecha": "2026-11-20",
	//       "compra": 3.750,
	//       "venta": 3.760
	//     }
	//   ],
	//   "keys": [
	//     {
	//       "key": "clave-1",
	//       "quota": 5
	//     }
	//   ],
	//   "deleted": {
	//     "contribuyentes": [
	//       "20131312955"
	//     ],
	//     "defaultKey": true
	//   }
	// }
}
