package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

// server starts a mock for an example. Your program has a base URL and an API key instead.
func server() *mockserver.Server {
	srv, err := mockserver.Start()
	if err != nil {
		log.Fatal(err)
	}
	return srv
}

func Example() {
	srv := server()
	defer srv.Close()

	client, err := fiscope.NewClient(srv.URL, srv.APIKey)
	if err != nil {
		log.Fatal(err)
	}
	defer client.CloseIdleConnections()

	c, err := client.Contribuyentes.Consultar(context.Background(), "20131312955")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.RazonSocial)
	fmt.Println(c.ActivoYHabido())
	// Output:
	// SUPERINTENDENCIA NACIONAL DE ADUANAS Y DE ADMINISTRACION TRIBUTARIA - SUNAT
	// true
}

func ExampleContribuyentesService_Consultar() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer client.CloseIdleConnections()

	_, err := client.Contribuyentes.Consultar(context.Background(), "99999999999")
	switch {
	case errors.Is(err, fiscope.ErrNotFound):
		fmt.Println("nobody has that RUC")
	case err != nil:
		log.Fatal(err)
	}
	// Output: nobody has that RUC
}

func ExampleContribuyentesService_Buscar() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer client.CloseIdleConnections()

	found, err := client.Contribuyentes.Buscar(context.Background(), fiscope.Busqueda{RazonSocial: "luz del sur", Limite: 5})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range found {
		fmt.Println(c.RUC, c.RazonSocial)
	}
	// Output: 20331898008 LUZ DEL SUR S.A.A.
}

func ExampleCPEService_Validar() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer client.CloseIdleConnections()

	factura := fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123}
	v, err := client.CPE.Validar(context.Background(), factura, fiscope.CredencialesSOL{
		RUC:     mockserver.RUCSolicitante,
		Usuario: mockserver.UsuarioSOL,
		Clave:   fiscope.NewSecreto(mockserver.ClaveSOL),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(v.Estado, v.EsValido)
	// Output: Aceptado true
}

func ExampleTipoCambioService_Consultar() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer client.CloseIdleConnections()

	tc, err := client.TipoCambio.Consultar(context.Background(), fiscope.NewFecha(2026, time.October, 20))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tc.Fecha, tc.Venta.StringFixed(3))
	// Output: 2026-10-20 3.903
}

func ExampleTipoCambioService_Hoy() {
	fourOClock := func() time.Time { return time.Date(2026, time.November, 20, 16, 0, 0, 0, fiscope.Lima) }
	srv, err := mockserver.Start(mockserver.WithClock(fourOClock))
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	client := srv.Client()
	defer client.CloseIdleConnections()

	_, err = client.TipoCambio.Hoy(context.Background())
	if errors.Is(err, fiscope.ErrNotFound) {
		fmt.Println("not yet published")
	}
	// Output: not yet published
}

func ExampleWithResponse() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer client.CloseIdleConnections()

	var resp fiscope.Response
	_, err := client.Contribuyentes.Consultar(context.Background(), "20131312955", fiscope.WithResponse(&resp))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(resp.StatusCode, resp.RateLimit.Remaining, "of", resp.RateLimit.Limit)
	// Output: 200 999 of 1000
}

func ExampleError() {
	client, err := fiscope.NewClient("https://api.example.com", "an-api-key")
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Contribuyentes.Consultar(context.Background(), "2013131295")
	fmt.Println(err)
	var e *fiscope.Error
	if errors.As(err, &e) {
		fmt.Println(e.Delivery, errors.Is(err, fiscope.ErrInvalidRequest))
	}
	// Output:
	// fiscope: Contribuyentes.Consultar: invalid request: ruc must be exactly 11 digits: it has 10; nothing was sent
	// not sent true
}
