package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
)

// byHand is net/http and encoding/json. It makes one attempt of each call.
type byHand struct{ http *http.Client }

func newByHand(_ testing.TB, hc *http.Client) client { return byHand{hc} }

func (c byHand) lookup(ctx context.Context, ruc string) (object, error) {
	var found contribuyente
	if err := c.call(ctx, http.MethodGet, "/api/contribuyentes/"+ruc, nil, &found); err != nil {
		return object{}, err
	}
	return found.object()
}

func (c byHand) send(ctx context.Context, clave string) error {
	body, err := json.Marshal(validate(clave))
	if err != nil {
		return err
	}
	var result resultado
	if err := c.call(ctx, http.MethodPost, "/api/cpe/validar", bytes.NewReader(body), &result); err != nil {
		return err
	}
	return result.check()
}

func (c byHand) call(ctx context.Context, method, path string, body io.Reader, v any) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, baseURL+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("X-API-KEY", key)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	return read(resp, v)
}
