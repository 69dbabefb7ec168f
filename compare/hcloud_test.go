package compare

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"testing"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// ofHcloud looks up a location by its number, and sets the password of a storage box.
type ofHcloud struct{ api *hcloud.Client }

func newHcloud(_ testing.TB, hc *http.Client) client {
	hc.Timeout = timeout
	return ofHcloud{hcloud.NewClient(
		hcloud.WithEndpoint(baseURL), hcloud.WithHetznerEndpoint(baseURL), hcloud.WithToken(key), hcloud.WithHTTPClient(hc),
		hcloud.WithRetryOpts(hcloud.RetryOpts{MaxRetries: retries, BackoffFunc: hcloud.ExponentialBackoffWithOpts(
			hcloud.ExponentialBackoffOpts{Base: wait, Multiplier: 2, Cap: maxWait, Jitter: true})}),
	)}
}

func (c ofHcloud) lookup(ctx context.Context, id string) (object, error) {
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return object{}, err
	}
	found, _, err := c.api.Location.GetByID(ctx, number)
	switch {
	case err != nil:
		return object{}, err
	case found == nil:
		return object{}, errors.New("there is no such location")
	}
	return object{found.Name, found.City, string(found.NetworkZone)}, nil
}

func (c ofHcloud) send(ctx context.Context, password string) error {
	_, _, err := c.api.StorageBox.ResetPassword(ctx, &hcloud.StorageBox{ID: 1}, hcloud.StorageBoxResetPasswordOpts{Password: password})
	return err
}
