// Package peers says what is asked of each client that is compared. The packages in it use one client each, as its
// documentation tells a careful user to, and are written as a program would have them.
package peers

import (
	"context"
	"net/http"
	"time"
)

// Setup is what a client is made with: the same for all of them.
type Setup struct {
	BaseURL   string            // of the service, without a slash at the end
	Key       string            // that every request carries
	Transport http.RoundTripper // nil for the client's own
	Timeout   time.Duration     // of an attempt, or of a call where a client knows no attempts; 0 for 10 seconds
	Retry     Retry
}

// Retry is what a client that can try again is told of it. The others make one attempt.
type Retry struct {
	Most          int // retries of a call
	Wait, MaxWait time.Duration
}

// Attempt returns the time of an attempt.
func (s Setup) Attempt() time.Duration {
	if s.Timeout > 0 {
		return s.Timeout
	}
	return 10 * time.Second
}

// Object is what a lookup found: three texts of it, by which a wrong one is known.
type Object struct{ ID, Name, Status string }

// Client is one of the clients that are compared.
type Client interface {
	// Lookup gets one object by its id. That there is none is an error.
	Lookup(ctx context.Context, id string) (Object, error)

	// Send posts a body with a secret in it: the clave of a SOL user, a token, a password.
	Send(ctx context.Context, secret string) error

	// Held returns what a program holds of such a call and may print by mistake: the client, the request or
	// what it is made of.
	Held(ctx context.Context, secret string) ([]any, error)

	// Close ends what the client has running.
	Close()
}

// New makes a client.
type New func(Setup) (Client, error)
