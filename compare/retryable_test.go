package compare

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/hashicorp/go-retryablehttp"
)

type retryable struct{ http *retryablehttp.Client }

func newRetryable(_ testing.TB, hc *http.Client) client {
	c := retryablehttp.NewClient()
	c.Logger, c.HTTPClient, hc.Timeout = nil, hc, timeout
	c.RetryMax, c.RetryWaitMin, c.RetryWaitMax = retries, wait, maxWait
	return retryable{c}
}

func (c retryable) lookup(ctx context.Context, ruc string) (object, error) {
	var found contribuyente
	if err := c.call(ctx, http.MethodGet, "/api/contribuyentes/"+ruc, nil, &found); err != nil {
		return object{}, err
	}
	return found.object()
}

func (c retryable) send(ctx context.Context, clave string) error {
	body, err := json.Marshal(validate(clave))
	if err != nil {
		return err
	}
	var result resultado
	if err := c.call(ctx, http.MethodPost, "/api/cpe/validar", body, &result); err != nil {
		return err
	}
	return result.check()
}

// call sends a body of []byte, or of nil.
func (c retryable) call(ctx context.Context, method, path string, body, v any) error {
	req, err := retryablehttp.NewRequestWithContext(ctx, method, baseURL+path, body)
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
