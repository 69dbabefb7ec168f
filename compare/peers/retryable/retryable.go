// Package retryable calls the service with go-retryablehttp.
package retryable

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/fiscope/fiscope/compare/peers"
)

type client struct {
	http         *retryablehttp.Client
	baseURL, key string
}

// New returns a client.
func New(s peers.Setup) (peers.Client, error) {
	c := retryablehttp.NewClient()
	c.Logger = nil
	c.HTTPClient.Timeout = s.Attempt()
	if s.Transport != nil {
		c.HTTPClient.Transport = s.Transport
	}
	c.RetryMax, c.RetryWaitMin, c.RetryWaitMax = s.Retry.Most, s.Retry.Wait, s.Retry.MaxWait
	return &client{c, s.BaseURL, s.Key}, nil
}

func (c *client) Lookup(ctx context.Context, ruc string) (peers.Object, error) {
	var found peers.Contribuyente
	if err := c.call(ctx, http.MethodGet, "/api/contribuyentes/"+ruc, nil, &found); err != nil {
		return peers.Object{}, err
	}
	return found.Object()
}

func (c *client) Send(ctx context.Context, clave string) error {
	body, err := json.Marshal(peers.Ask(clave))
	if err != nil {
		return err
	}
	var result peers.Resultado
	if err := c.call(ctx, http.MethodPost, "/api/cpe/validar", body, &result); err != nil {
		return err
	}
	return result.Check()
}

func (c *client) call(ctx context.Context, method, path string, body []byte, v any) error {
	req, err := c.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return peers.Read(resp, v)
}

func (c *client) request(ctx context.Context, method, path string, body []byte) (*retryablehttp.Request, error) {
	var raw any // a nil slice in it would be a body
	if body != nil {
		raw = body
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, method, c.baseURL+path, raw)
	if err != nil {
		return nil, err
	}
	req.Header.Set("X-API-KEY", c.key)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

func (c *client) Held(ctx context.Context, clave string) ([]any, error) {
	body, err := json.Marshal(peers.Ask(clave))
	if err != nil {
		return nil, err
	}
	req, err := c.request(ctx, http.MethodPost, "/api/cpe/validar", body)
	return []any{c, req, peers.Ask(clave)}, err
}

func (c *client) Close() { c.http.HTTPClient.CloseIdleConnections() }
