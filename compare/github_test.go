package compare

import (
	"context"
	"net/http"
	"testing"

	"github.com/google/go-github/v92/github"
	"github.com/stretchr/testify/require"
)

// ofGithub looks up a user by name, and checks a token. It makes one attempt of each call.
type ofGithub struct{ api *github.Client }

func newGithub(t testing.TB, hc *http.Client) client {
	base := baseURL + "/"
	c, err := github.NewClient(github.WithURLs(&base, nil), github.WithAuthToken(key), github.WithTimeout(timeout), github.WithTransport(hc.Transport))
	require.NoError(t, err)
	return ofGithub{c}
}

func (c ofGithub) lookup(ctx context.Context, login string) (object, error) {
	found, _, err := c.api.Users.Get(ctx, login)
	if err != nil {
		return object{}, err
	}
	return object{found.GetLogin(), found.GetName(), found.GetType()}, nil
}

func (c ofGithub) send(ctx context.Context, token string) error {
	_, _, err := c.api.Authorizations.Check(ctx, "muestra", token)
	return err
}
