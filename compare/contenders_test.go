package compare

import (
	"context"
	"net/http"
	"testing"
	"time"
)

// client is what is asked of each contender. Each is used as its documentation advises a careful user.
type client interface {
	// lookup gets one object by its id. A missing one is an error.
	lookup(ctx context.Context, id string) (object, error)

	// send posts a body with a secret in it: the clave of a SOL user, a token, a password.
	send(ctx context.Context, secret string) error
}

// object is what a lookup found: three texts of it, by which a wrong one is known.
type object struct{ id, name, status string }

// contender is a client that is compared, with the service that it calls.
type contender struct {
	name   string // in the head of the table
	module string // "" for the standard library
	api    *api
	new    func(testing.TB, *http.Client) client
}

// contenders are the columns of the table: the first is what costs are compared with.
var contenders = []contender{
	{"net/http", "", &fiscopeAPI, newByHand},
	{"retryablehttp", "github.com/hashicorp/go-retryablehttp", &fiscopeAPI, newRetryable},
	{"resty", "github.com/go-resty/resty/v2", &fiscopeAPI, newResty},
	{"requests", "github.com/carlmjohnson/requests", &fiscopeAPI, newRequests},
	{"go-github", "github.com/google/go-github/v92", &githubAPI, newGithub},
	{"hcloud-go", "github.com/hetznercloud/hcloud-go/v2", &hcloudAPI, newHcloud},
	{"fiscope", "github.com/fiscope/fiscope", &fiscopeAPI, newFiscope},
}

// What all are set to. Those that can try again do so twice, after waits that cost a run little time.
const (
	baseURL = "https://api.fiscope.example"
	key     = "llave7f3a91c4"
	clave   = "claveFalsa12x"
	timeout = 10 * time.Second
	retries = 2
	wait    = time.Millisecond
	maxWait = 20 * time.Millisecond
)

// open makes the client, of a service in memory.
func (c contender) open(t testing.TB, s service) client {
	return c.new(t, &http.Client{Transport: s})
}

// finds looks up the object, and reports whether it was found.
func (c contender) finds(ctx context.Context, of client) bool {
	found, err := of.lookup(ctx, c.api.id)
	return err == nil && found == c.api.object
}
