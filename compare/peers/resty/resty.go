// Package resty calls the service with resty.
package resty

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/go-resty/resty/v2"

	"github.com/fiscope/fiscope/compare/peers"
)

type client struct{ http *resty.Client }

// New returns a client.
func New(s peers.Setup) (peers.Client, error) {
	c := resty.NewWithClient(&http.Client{Transport: s.Transport})
	c.SetBaseURL(s.BaseURL).SetHeader("X-API-KEY", s.Key).SetTimeout(s.Attempt()).SetResponseBodyLimit(1 << 20).
		SetRetryCount(s.Retry.Most).SetRetryWaitTime(s.Retry.Wait).SetRetryMaxWaitTime(s.Retry.MaxWait).
		AddRetryCondition(retryable).SetRetryAfter(retryAfter).SetLogger(quiet{})
	return &client{c}, nil
}

// retryable is in the caller's hands: by itself resty tries again only what got no answer.
func retryable(resp *resty.Response, err error) bool {
	if resp == nil || resp.Request.Method != http.MethodGet {
		return false
	}
	return err != nil || resp.StatusCode() == http.StatusTooManyRequests || resp.StatusCode() >= http.StatusInternalServerError
}

// retryAfter is in the caller's hands too: how long a service asks to wait, 0 where it does not.
func retryAfter(c *resty.Client, resp *resty.Response) (time.Duration, error) {
	seconds, err := strconv.Atoi(resp.Header().Get("Retry-After"))
	if err != nil {
		return 0, nil // there is none, or it is a date
	}
	wait := time.Duration(seconds) * time.Second
	if wait > c.RetryMaxWaitTime {
		return 0, fmt.Errorf("status %d, and asked to wait for %s", resp.StatusCode(), wait)
	}
	return wait, nil
}

func (c *client) Lookup(ctx context.Context, ruc string) (peers.Object, error) {
	var found peers.Contribuyente
	resp, err := c.http.R().SetContext(ctx).SetPathParam("ruc", ruc).SetResult(&found).Get("/api/contribuyentes/{ruc}")
	switch {
	case err != nil:
		return peers.Object{}, err
	case resp.StatusCode() != http.StatusOK:
		return peers.Object{}, fmt.Errorf("status %d", resp.StatusCode())
	}
	return found.Object()
}

func (c *client) Send(ctx context.Context, clave string) error {
	var result peers.Resultado
	resp, err := c.validation(ctx, clave).SetResult(&result).Post("/api/cpe/validar")
	switch {
	case err != nil:
		return err
	case resp.StatusCode() != http.StatusOK:
		return fmt.Errorf("status %d", resp.StatusCode())
	}
	return result.Check()
}

func (c *client) validation(ctx context.Context, clave string) *resty.Request {
	return c.http.R().SetContext(ctx).SetBody(peers.Ask(clave))
}

func (c *client) Held(ctx context.Context, clave string) ([]any, error) {
	return []any{c.http, c.validation(ctx, clave), peers.Ask(clave)}, nil
}

func (c *client) Close() { c.http.GetClient().CloseIdleConnections() }
