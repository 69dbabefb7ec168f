// Package github calls a stub of GitHub's API with go-github: a user by name, and the check of a token.
package github

import (
	"context"
	"net/http"

	"github.com/google/go-github/v92/github"

	"github.com/fiscope/fiscope/compare/peers"
)

type client struct{ api *github.Client }

// New returns a client. The library makes one attempt of each call.
func New(s peers.Setup) (peers.Client, error) {
	base := s.BaseURL + "/"
	options := []github.ClientOptionsFunc{github.WithURLs(&base, nil), github.WithAuthToken(s.Key), github.WithTimeout(s.Attempt())}
	if s.Transport != nil {
		options = append(options, github.WithTransport(s.Transport))
	}
	api, err := github.NewClient(options...)
	return &client{api}, err
}

func (c *client) Lookup(ctx context.Context, login string) (peers.Object, error) {
	found, _, err := c.api.Users.Get(ctx, login)
	if err != nil {
		return peers.Object{}, err
	}
	return peers.Object{ID: found.GetLogin(), Name: found.GetName(), Status: found.GetType()}, nil
}

func (c *client) Send(ctx context.Context, token string) error {
	_, _, err := c.api.Authorizations.Check(ctx, "muestra", token)
	return err
}

func (c *client) Held(ctx context.Context, token string) ([]any, error) {
	req, err := c.api.NewRequest(ctx, http.MethodPost, "applications/muestra/token", map[string]string{"access_token": token})
	return []any{c.api, req}, err
}

func (c *client) Close() { c.api.Client().CloseIdleConnections() }
