// Package byhand calls the service with net/http and encoding/json.
package byhand

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/fiscope/fiscope/compare/peers"
)

type client struct {
	http         *http.Client
	timeout      time.Duration
	baseURL, key string
}

// New returns a client. It makes one attempt of each call.
func New(s peers.Setup) (peers.Client, error) {
	return &client{&http.Client{Transport: s.Transport}, s.Attempt(), s.BaseURL, s.Key}, nil
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
	if err := c.call(ctx, http.MethodPost, "/api/cpe/validar", bytes.NewReader(body), &result); err != nil {
		return err
	}
	return result.Check()
}

func (c *client) call(ctx context.Context, method, path string, body io.Reader, v any) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
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

func (c *client) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.baseURL+path, body)
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
	req, err := c.request(ctx, http.MethodPost, "/api/cpe/validar", bytes.NewReader(body))
	return []any{c, req, peers.Ask(clave)}, err
}

func (c *client) Close() { c.http.CloseIdleConnections() }
