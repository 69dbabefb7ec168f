package main

import (
	"context"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/fiscope/fiscope/otelfiscope"
)

const (
	rucSUNAT = "20131312955" // the tax authority itself: public, and it always exists
	nombre   = "gloria"
)

// demostrar makes calls that end in every way that telemetry should tell apart.
func demostrar(ctx context.Context, t telemetria, env func(string) string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	baseURL, apiKey := env("FISCOPE_BASE_URL"), env("FISCOPE_API_KEY")
	var mock *mockserver.Server
	if baseURL == "" {
		var err error
		if mock, err = mockserver.Start(); err != nil {
			return err
		}
		defer mock.Close()
		baseURL, apiKey = mock.URL, mock.APIKey
		// The rate is out of order once: a retry answers it.
		mock.Fault(mockserver.Match{Op: mockserver.OpTipoCambio, Times: 1}, mockserver.Status(503))
	}
	client, err := conectar(t, baseURL, apiKey, env("FISCOPE_INSECURE_HTTP") == "1")
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	return llamadas(ctx, t, client, mock != nil)
}

// conectar is all that an application has to do.
func conectar(t telemetria, baseURL, apiKey string, insecure bool) (*fiscope.Client, error) {
	telemetry, err := otelfiscope.New(otelfiscope.WithTracerProvider(t.spans), otelfiscope.WithMeterProvider(t.metricas))
	if err != nil {
		return nil, err
	}
	opts := []fiscope.Option{
		fiscope.WithHook(telemetry.Hook),
		fiscope.WithContextObserver(telemetry.Observe),
		fiscope.WithCache(fiscope.CachePolicy{}),
	}
	if insecure {
		opts = append(opts, fiscope.WithInsecureHTTP())
	}
	client, err := fiscope.NewClient(baseURL, apiKey, opts...)
	if err != nil {
		return nil, err
	}
	_, err = telemetry.ObserveQuota(client)
	return client, err
}

// llamadas are those of an application. Most of their errors are made on purpose, for the telemetry to
// show; that of the first would be one.
func llamadas(ctx context.Context, t telemetria, client *fiscope.Client, mock bool) error {
	ctx, span := t.spans.Tracer("facturador").Start(ctx, "emitir factura")
	defer span.End()

	consultar := func(ruc string) error {
		_, err := client.Contribuyentes.Consultar(ctx, ruc)
		return err
	}
	if err := consultar(rucSUNAT); err != nil {
		return err
	}
	_ = consultar(rucSUNAT)     // from the cache
	_ = consultar("2013131295") // a digit is missing: refused without a query
	_, _ = client.TipoCambio.Consultar(ctx, ultimoHabil())
	_, _ = client.Contribuyentes.Buscar(ctx, fiscope.Busqueda{RazonSocial: nombre})
	if !mock {
		return nil
	}
	_ = consultar("20999999990") // nobody has it
	for _, clave := range []string{mockserver.ClaveSOL, claveErrada, claveErrada} {
		_, _ = client.CPE.Validar(ctx,
			fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123},
			fiscope.CredencialesSOL{RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL, Clave: fiscope.NewSecreto(clave)})
	}
	return nil
}

// claveErrada is refused once by the tax authority, and the second time by the client itself.
const claveErrada = "no-es-la-clave"

func ultimoHabil() fiscope.Fecha {
	fecha := fiscope.HoyEnLima().AddDays(-1)
	for !fecha.DiaHabil() {
		fecha = fecha.AddDays(-1)
	}
	return fecha
}
