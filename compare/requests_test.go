package compare

import (
	"context"
	"net/http"
	"testing"

	"github.com/carlmjohnson/requests"
)

// ofRequests makes one attempt of each call.
type ofRequests struct{ base *requests.Builder }

func newRequests(_ testing.TB, hc *http.Client) client {
	hc.Timeout = timeout
	return ofRequests{requests.URL(baseURL).Client(hc).Header("X-API-KEY", key).Accept("application/json")}
}

func (c ofRequests) lookup(ctx context.Context, ruc string) (object, error) {
	var found contribuyente
	err := c.base.Clone().Path("/api/contribuyentes/" + ruc).CheckStatus(http.StatusOK).ToJSON(&found).Fetch(ctx)
	if err != nil {
		return object{}, err
	}
	return found.object()
}

func (c ofRequests) send(ctx context.Context, clave string) error {
	var result resultado
	err := c.base.Clone().Path("/api/cpe/validar").BodyJSON(validate(clave)).CheckStatus(http.StatusOK).ToJSON(&result).Fetch(ctx)
	if err != nil {
		return err
	}
	return result.check()
}
