package fiscope

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fiscope/fiscope/internal/breaker"
	"github.com/fiscope/fiscope/internal/flight"
	"github.com/fiscope/fiscope/store"
)

// sharedStore is how a client uses its Store. A nil one is a client without one.
type sharedStore struct {
	store   store.Store
	clock   clock
	baseURL string
	apiKey  Secreto
	account string       // the name of the service and the API key
	start   func(func()) // runs in the background
	asked   flight.Group[*byte, *reply]
	down    breaker.Breaker
	why     atomic.Pointer[error] // the last failure

	mu    sync.Mutex
	spent map[int]spentUntil // the last refusal, keyed by reserve
}

// spentUntil is a refusal that is reused without asking the Store.
type spentUntil struct {
	store.Reservation
	end time.Time
}

const (
	storeTimeout = time.Second            // how long a caller waits
	storeAnswers = 950 * time.Millisecond // the timeout of a question: shorter, so that the Store's own error comes first
	storePause   = 5 * time.Second        // before a failed Store is probed; it doubles
	storeLongest = time.Minute
	spentPause   = time.Second // how long a refusal is reused
)

// errStoreAway is the error while the Store fails.
var errStoreAway = errors.New("the Store does not answer")

func newSharedStore(s store.Store, baseURL string, apiKey Secreto, clock clock, start func(func()), panicked func(string, []byte)) *sharedStore {
	if s == nil {
		return nil
	}
	f := &sharedStore{
		store: s, clock: clock, baseURL: baseURL, apiKey: apiKey, start: start,
		asked: flight.Group[*byte, *reply]{Go: start, Panicked: panicked},
		down:  breaker.Breaker{Failures: 1, Pause: storePause, Longest: storeLongest},
		spent: map[int]spentUntil{},
	}
	f.account = f.name("account")
	return f
}

// name returns a key for the Store. It is an HMAC: without the API key, guesses of a RUC or a clave cannot be checked
// against it.
func (s *sharedStore) name(kind string, parts ...string) string {
	mac := hmac.New(sha256.New, []byte(s.apiKey.text()))
	for _, part := range append([]string{s.baseURL, kind}, parts...) {
		_, _ = fmt.Fprintf(mac, "%d:%s", len(part), part) // a hash never fails
	}
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

func (s *sharedStore) credential(c *CredencialesSOL) string { return s.name("sol", c.parts()...) }

// reply is the Store's answer to a question.
type reply struct {
	value any
	err   error
	over  atomic.Bool // set when the answer comes or its caller leaves, whichever is first
}

// askStore asks the Store, for at most a second or half of the caller's time. A failed Store is skipped and probed in
// the background. An answer that comes too late goes to late, which may be nil.
func askStore[T any](ctx context.Context, f *sharedStore, question func(context.Context) (T, error), late func(context.Context, T) error) (none T, _ error) {
	if f.down.Open() {
		if f.down.Probe() {
			f.start(func() {
				_, _ = f.timed(ctx, func(ctx context.Context) (any, error) { return f.store.Load(ctx, f.name("probe")) })
			})
		}
		return none, f.away()
	}
	patience := storeTimeout
	if deadline, bounded := ctx.Deadline(); bounded {
		patience = min(patience, time.Until(deadline)/2)
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, _, _, err := f.asked.Join(limited, new(byte), func() (*reply, func(context.Context)) {
		r := new(reply)
		return r, func(ctx context.Context) {
			r.value, r.err = f.timed(ctx, func(ctx context.Context) (any, error) { return question(ctx) })
			if r.over.Swap(true) && r.err == nil && late != nil {
				f.write(ctx, func(ctx context.Context) error { return late(ctx, r.value.(T)) })
			}
		}
	})
	switch {
	case (err == nil || r.over.Swap(true)) && r.err == nil: // even if ctx has ended: the caller checks it
		value, _ := r.value.(T) // a nil value has no type
		return value, nil
	case ctx.Err() != nil:
		return none, ctx.Err()
	case err == nil:
		return none, f.away()
	}
	if limited.Err() != nil {
		err = fmt.Errorf("%T did not answer in time: %w", f.store, err)
	}
	if patience == storeTimeout { // even if the Store ignores its context
		f.failed(err)
	}
	return none, fmt.Errorf("%w: %w", errStoreAway, err)
}

// timed asks within storeAnswers, and records whether the Store failed.
func (s *sharedStore) timed(ctx context.Context, question func(context.Context) (any, error)) (any, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeAnswers)
	defer cancel()
	value, err := question(ctx)
	if late := cmp.Or(err, ctx.Err()); late != nil {
		s.failed(late)
	} else {
		s.down.Record(true)
	}
	return value, err
}

// failed records why the Store is away.
func (s *sharedStore) failed(err error) {
	s.why.Store(&err)
	s.down.Record(false)
}

// away returns the error for a Store that is skipped, with its last failure.
func (s *sharedStore) away() error {
	if why := s.why.Load(); why != nil {
		return fmt.Errorf("%w: %w", errStoreAway, *why)
	}
	return errStoreAway
}

// write writes to the Store in the background, unless it is away.
func (s *sharedStore) write(ctx context.Context, what func(context.Context) error) {
	if s.down.Open() {
		return
	}
	s.start(func() {
		_, _ = s.timed(ctx, func(ctx context.Context) (any, error) { return nil, what(ctx) })
	})
}

// reserve reserves a query in the Store, leaving keep queries for others; nil if the Store does not answer.
func (s *sharedStore) reserve(ctx context.Context, keep int) *store.Reservation {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	last, ok := s.spent[keep]
	s.mu.Unlock()
	if ok && time.Now().Before(last.end) {
		return &last.Reservation
	}
	r, err := askStore(ctx, s, func(ctx context.Context) (store.Reservation, error) {
		return s.store.Reserve(ctx, s.account, keep)
	}, func(ctx context.Context, r store.Reservation) error {
		if r.Grant == store.Spent {
			return nil
		}
		return s.store.Commit(ctx, s.account, r, store.Outcome{})
	})
	if err != nil {
		return nil
	}
	if r.Grant == store.Spent {
		s.mu.Lock()
		s.spent[keep] = spentUntil{r, time.Now().Add(spentPause)}
		s.mu.Unlock()
	}
	return &r
}

// commit records the outcome of a reservation.
func (s *sharedStore) commit(ctx context.Context, r *store.Reservation, o store.Outcome) {
	if r == nil || r.Grant == store.Spent {
		return
	}
	o.Reset, o.Date = s.clock.toReal(o.Reset), s.clock.toReal(o.Date)
	commit := func(ctx context.Context) error { return s.store.Commit(ctx, s.account, *r, o) }
	if o.Written == 0 || r.Grant != store.Probe && o.Remaining != 0 && !o.Refused {
		s.write(ctx, commit)
		return
	}
	_, _ = askStore(context.WithoutCancel(ctx), s, func(ctx context.Context) (any, error) { return nil, commit(ctx) }, nil) // it waits: the next call must see it
}
