package main

import (
	"errors"
	"net"
	"net/url"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

// servicio is whom the batch asks.
type servicio struct {
	nombre string // kept with the answers, so that those of a mock are never taken for real ones
	client *fiscope.Client
	mock   *mockserver.Server // nil where the service is not ours
}

// conectar comes after the input: a file that is not there is the first thing to say.
func (o *opciones) conectar() (*servicio, error) {
	s := &servicio{nombre: o.baseURL}
	if o.mock {
		opts := []mockserver.Option{mockserver.WithQuota(o.cuota)}
		if o.generar > 0 {
			opts = append(opts, mockserver.WithRegistro(padronInventado{}))
		}
		var err error
		if s.mock, err = mockserver.Start(opts...); err != nil {
			return nil, err
		}
		s.nombre = "mock"
		o.baseURL, o.apiKey = s.mock.URL, s.mock.APIKey
	}
	if o.baseURL == "" || o.apiKey == "" {
		return nil, errors.New("faltan FISCOPE_BASE_URL y FISCOPE_API_KEY; para probar sin servicio, -mock")
	}
	opts := []fiscope.Option{
		fiscope.WithUserAgent("fiscope-lote"),
		fiscope.WithQuotaReserve(o.reserva),
		// A mistyped RUC costs nothing: revisar has reported it already, and this makes sure. Without it,
		// and without ValidarRUC in columnas.go, all that has 11 digits is asked.
		fiscope.WithStrictRUC(),
	}
	if o.insecure {
		opts = append(opts, fiscope.WithInsecureHTTP())
	}
	var err error
	if s.client, err = fiscope.NewClient(o.baseURL, o.apiKey, opts...); err != nil {
		s.cerrar()
		return nil, err
	}
	return s, nil
}

func (s *servicio) cerrar() {
	if s.client != nil {
		s.client.CloseIdleConnections()
	}
	if s.mock != nil {
		_ = s.mock.Close() // a mock has nothing to lose
	}
}

// esLocal reports whether a base URL is of this machine.
func esLocal(baseURL string) bool {
	u, err := url.Parse(baseURL)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
