package mockserver_test

import (
	"fmt"
	"io"
	"net/http"
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
