// Package requests calls the service with carlmjohnson/requests.
package requests

import (
	"context"
	"net/http"

	"github.com/carlmjohnson/requests"

	"github.com/fiscope/fiscope/compare/peers"
)

type client struct {
	http *http.Client
	base *requests.Builder
}

// New returns a client. The library makes one attempt of each call.
func New(s peers.Setup) (peers.Client, error) {
	hc := &http.Client{Transport: s.Transport, Timeout: s.Attempt()}
	return &client{hc, requests.URL(s.BaseURL).Client(hc).Header("X-API-KEY", s.Key).Accept("application/json")}, nil
}

func (c *client) Lookup(ctx context.Context, ruc string) (peers.Object, error) {
	var found peers.Contribuyente
	err := c.base.Clone().Path("/api/contribuyentes/" + ruc).CheckStatus(http.StatusOK).ToJSON(&found).Fetch(ctx)
	if err != nil {
		return peers.Object{}, err
	}
	return found.Object()
}

func (c *client) Send(ctx context.Context, clave string) error {
	var result peers.Resultado
	if err := c.validation(clave).CheckStatus(http.StatusOK).ToJSON(&result).Fetch(ctx); err != nil {
		return err
	}
	return result.Check()
}

func (c *client) validation(clave string) *requests.Builder {
	return c.base.Clone().Path("/api/cpe/validar").BodyJSON(peers.Ask(clave))
}

func (c *client) Held(_ context.Context, clave string) ([]any, error) {
	return []any{c, c.validation(clave), peers.Ask(clave)}, nil
}

func (c *client) Close() { c.http.CloseIdleConnections() }
