package compare

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/go-resty/resty/v2"
)

type ofResty struct{ http *resty.Client }

func newResty(_ testing.TB, hc *http.Client) client {
	c := resty.NewWithClient(hc).SetBaseURL(baseURL).SetHeader("X-API-KEY", key).SetTimeout(timeout).SetResponseBodyLimit(1 << 20).
		SetRetryCount(retries).SetRetryWaitTime(wait).SetRetryMaxWaitTime(maxWait).AddRetryCondition(tryAgain).SetLogger(quiet{})
	return ofResty{c}
}

// tryAgain is in the caller's hands: by itself resty tries again only what got no answer.
func tryAgain(resp *resty.Response, err error) bool {
	if resp == nil || resp.Request.Method != http.MethodGet {
		return false
	}
	return err != nil || resp.StatusCode() == http.StatusTooManyRequests || resp.StatusCode() >= http.StatusInternalServerError
}

func (c ofResty) lookup(ctx context.Context, ruc string) (object, error) {
	var found contribuyente
	resp, err := c.http.R().SetContext(ctx).SetPathParam("ruc", ruc).SetResult(&found).Get("/api/contribuyentes/{ruc}")
	switch {
	case err != nil:
		return object{}, err
	case resp.StatusCode() != http.StatusOK:
		return object{}, fmt.Errorf("status %d", resp.StatusCode())
	}
	return found.object()
}

func (c ofResty) send(ctx context.Context, clave string) error {
	var result resultado
	resp, err := c.http.R().SetContext(ctx).SetBody(validate(clave)).SetResult(&result).Post("/api/cpe/validar")
	switch {
	case err != nil:
		return err
	case resp.StatusCode() != http.StatusOK:
		return fmt.Errorf("status %d", resp.StatusCode())
	}
	return result.check()
}

// quiet is a logger that writes nothing.
type quiet struct{}

func (quiet) Errorf(string, ...any) {}
func (quiet) Warnf(string, ...any)  {}
func (quiet) Debugf(string, ...any) {}
