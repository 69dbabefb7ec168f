// Package sdk calls the service with fiscope.
package sdk

import (
	"context"
	"net/http"

	"github.com/fiscope/fiscope"

	"github.com/fiscope/fiscope/compare/peers"
)

type client struct{ api *fiscope.Client }

// New returns a client.
func New(s peers.Setup) (peers.Client, error) { return open(s) }

// NewWithCache returns a client whose cache keeps no taxpayer, so that every lookup misses it.
func NewWithCache(s peers.Setup) (peers.Client, error) {
	return open(s, fiscope.WithCache(fiscope.CachePolicy{Consulta: -1}))
}

func open(s peers.Setup, options ...fiscope.Option) (peers.Client, error) {
	options = append(options, fiscope.WithTimeout(s.Attempt(), s.Attempt()))
	if s.Transport != nil {
		options = append(options, fiscope.WithHTTPClient(&http.Client{Transport: s.Transport}))
	}
	if s.Retry.Wait > 0 {
		retry := fiscope.DefaultRetryPolicy()
		retry.MaxRetries, retry.Base, retry.Cap = s.Retry.Most, s.Retry.Wait, s.Retry.MaxWait
		options = append(options, fiscope.WithRetry(retry))
	}
	api, err := fiscope.NewClient(s.BaseURL, s.Key, options...)
	return &client{api}, err
}

func (c *client) Lookup(ctx context.Context, ruc string) (peers.Object, error) {
	found, err := c.api.Contribuyentes.Consultar(ctx, ruc)
	if err != nil {
		return peers.Object{}, err
	}
	return peers.Object{ID: found.RUC, Name: found.RazonSocial, Status: string(found.Estado)}, nil
}

func (c *client) Send(ctx context.Context, clave string) error {
	_, err := c.api.CPE.Validar(ctx, comprobante, credenciales(clave))
	return err
}

var comprobante = fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123}

func credenciales(clave string) fiscope.CredencialesSOL {
	return fiscope.CredencialesSOL{RUC: "20131312955", Usuario: "MIUSER01", Clave: fiscope.NewSecreto(clave)}
}

func (c *client) Held(_ context.Context, clave string) ([]any, error) {
	return []any{c.api, comprobante, credenciales(clave)}, nil
}

func (c *client) Close() { _ = c.api.Close(context.Background()) }
