// Package hcloud calls a stub of Hetzner's API with hcloud-go: a location by its number, and the new password of a
// storage box.
package hcloud

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/fiscope/fiscope/compare/peers"
)

type client struct {
	api  *hcloud.Client
	http *http.Client
}

// New returns a client.
func New(s peers.Setup) (peers.Client, error) {
	hc := &http.Client{Transport: s.Transport, Timeout: s.Attempt()}
	return &client{hcloud.NewClient(
		hcloud.WithEndpoint(s.BaseURL), hcloud.WithHetznerEndpoint(s.BaseURL), hcloud.WithToken(s.Key), hcloud.WithHTTPClient(hc),
		hcloud.WithRetryOpts(hcloud.RetryOpts{MaxRetries: s.Retry.Most, BackoffFunc: hcloud.ExponentialBackoffWithOpts(
			hcloud.ExponentialBackoffOpts{Base: s.Retry.Wait, Multiplier: 2, Cap: s.Retry.MaxWait, Jitter: true})}),
	), hc}, nil
}

func (c *client) Lookup(ctx context.Context, id string) (peers.Object, error) {
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return peers.Object{}, err
	}
	found, _, err := c.api.Location.GetByID(ctx, number)
	switch {
	case err != nil:
		return peers.Object{}, err
	case found == nil:
		return peers.Object{}, errors.New("there is no such location")
	}
	return peers.Object{ID: found.Name, Name: found.City, Status: string(found.NetworkZone)}, nil
}

func (c *client) Send(ctx context.Context, password string) error {
	_, _, err := c.api.StorageBox.ResetPassword(ctx, &hcloud.StorageBox{ID: 1}, hcloud.StorageBoxResetPasswordOpts{Password: password})
	return err
}

func (c *client) Held(ctx context.Context, password string) ([]any, error) {
	req, err := c.api.NewRequest(ctx, http.MethodPost, "/storage_boxes/1/actions/reset_password", strings.NewReader(`{"password":"`+password+`"}`))
	return []any{c.api, req, hcloud.StorageBoxResetPasswordOpts{Password: password}}, err
}

func (c *client) Close() { c.http.CloseIdleConnections() }
