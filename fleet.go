package fiscope

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fiscope/fiscope/internal/broken"
	"github.com/fiscope/fiscope/internal/remote"
)

// fleet is how a client uses its Store: under which names, how long it waits for other processes, and
// what it does where the store fails. A nil fleet is a client without a Store.
type fleet struct {
	store   Store
	exact   ExactStore // the same; nil where it is none
	baseURL string
	apiKey  Secreto
	account string // the name of the service and the API key
	clock   clock

	// The store in its three parts: that it hangs in one of them says nothing of the others.
	answers, quota, credentials remote.Peer

	mu        sync.Mutex
	owed      map[string]time.Time // refusals that the store could not be told, by name, and their ends
	reminding bool                 // it is being told them
	remindAt  time.Time            // it is told them no sooner
	reminder  *time.Timer          // that has it told them though nobody claims; nil for none
}

// newFleet returns the use of a store. start runs what is asked and told in a goroutine, and lost is told of
// the store's panics that are raised nowhere.
func newFleet(s Store, baseURL string, apiKey Secreto, clock clock, start func(func()), lost func(*broken.Panic)) *fleet {
	if s == nil {
		return nil
	}
	f := &fleet{store: s, baseURL: withoutUsualPort(baseURL), apiKey: apiKey, clock: clock, owed: map[string]time.Time{}}
	f.exact, _ = s.(ExactStore)
	f.account = f.name("account")
	for _, part := range []*remote.Peer{&f.answers, &f.quota, &f.credentials} {
		part.Go, part.Lost = start, lost
	}
	return f
}

// withoutUsualPort returns a base URL without the port that its scheme has anyway: both are one service.
func withoutUsualPort(baseURL string) string {
	u, _ := url.Parse(baseURL) // which was checked
	port, _ := strconv.Atoi(u.Port())
	if u.Scheme == "https" && port == 443 || u.Scheme == "http" && port == 80 {
		return strings.Replace(baseURL, u.Host, strings.TrimSuffix(u.Host, ":"+u.Port()), 1)
	}
	return baseURL
}

// name returns the name under which the store knows something: nobody without the API key can tell what,
// or try which clave it may be.
func (f *fleet) name(kind string, parts ...string) string {
	mac := hmac.New(sha256.New, []byte(f.apiKey.text()))
	for _, part := range append([]string{f.baseURL, kind}, parts...) {
		_, _ = fmt.Fprintf(mac, "%d:%s", len(part), part) // a hash takes everything
	}
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// The number is that of the form: what other releases keep is not overwritten.
func (f *fleet) answer(question []string) string { return f.name("answer 2", question...) }

// How often a store is asked again while another process finds something out.
const (
	firstPause   = 20 * time.Millisecond
	longestPause = 500 * time.Millisecond
)

// How long a store may take.
const (
	loadingTime   = time.Second             // for an answer: without it, it costs a query
	decidingTime  = 3 * time.Second         // to say what may be sent: it may be waiting for its server
	leastDeciding = 1100 * time.Millisecond // of that, for who has less time: more than a Store needs that asks its server again for a second
	tellingTime   = time.Second             // to be told what came of something
)

// within returns ctx for a question to the store, of a caller with a deadline, zero for none: he waits for one
// part in so many of what he has left, or for least. That the store hangs shows after its own time.
func within(ctx context.Context, deadline time.Time, parts time.Duration, least time.Duration) (context.Context, context.CancelFunc) {
	if deadline.IsZero() {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, max(least, time.Until(deadline)/parts))
}

// decide asks the store what may be sent. A caller with a deadline keeps half of his time for the service: where that
// is why the store says nothing, the error is errNoTimeLeft.
func decide[A any](ctx context.Context, part *remote.Peer, deadline time.Time, question func(context.Context) (A, error), late func(context.Context, A)) (A, error) {
	limited, cancel := within(ctx, deadline, 2, leastDeciding)
	defer cancel()
	answer, err := remote.Ask(limited, part, decidingTime, question, late)
	if err != nil && limited.Err() != nil && ctx.Err() == nil && !errors.Is(err, remote.ErrHangs) {
		err = errNoTimeLeft
	}
	return answer, err
}

// load returns what the store keeps under the name of an answer, and nil for nothing. A caller with a deadline,
// zero for none, keeps most of his time for the service and for what decides whether it is asked.
func (f *fleet) load(ctx context.Context, deadline time.Time, question []string) []byte {
	if f == nil {
		return nil
	}
	ctx, cancel := within(ctx, deadline, 4, time.Second/4)
	defer cancel()
	value, err := remote.Ask(ctx, &f.answers, loadingTime, func(ctx context.Context) ([]byte, error) {
		return f.store.Load(ctx, f.answer(question))
	}, nil)
	if err != nil {
		return nil
	}
	return value
}

// save shares what value returns, unless that is nil; it may load what is there before. A store that hangs or
// fails costs the others a query, and this call nothing.
func (f *fleet) save(ctx context.Context, question []string, value func(context.Context) []byte, ttl time.Duration) {
	name := f.answer(question)
	f.answers.Tell(ctx, name, tellingTime, func(ctx context.Context) {
		deadline, _ := ctx.Deadline()
		start := time.Now()
		if v := value(ctx); v != nil {
			ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline.Add(time.Since(start))) // what it loads has a time of its own
			defer cancel()
			_ = f.store.Save(ctx, name, v, ttl)
		}
	})
}

// sleep waits for about d, so that those who wait for the same do not ask together.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d/2 + rand.N(d))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
