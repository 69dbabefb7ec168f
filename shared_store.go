package fiscope

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fiscope/fiscope/internal/breaker"
	"github.com/fiscope/fiscope/internal/flight"
	"github.com/fiscope/fiscope/internal/loglimit"
	"github.com/fiscope/fiscope/store"
)

// sharedStore is how a client uses its Store. A nil one is a client without one.
type sharedStore struct {
	store   store.Store
	clock   calendar
	baseURL string
	apiKey  Secreto
	account string // the name of the service and the API key
	report  *reporter
	runner  *flight.Runner
	down    breaker.Breaker
	why     atomic.Pointer[error] // the last failure
	outage  loglimit.Outage       // for the log

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

func newSharedStore(given store.Store, baseURL string, apiKey Secreto, r *reporter, runner *flight.Runner) *sharedStore {
	if given == nil {
		return nil
	}
	s := &sharedStore{
		store: given, clock: r.clock, baseURL: baseURL, apiKey: apiKey, report: r, runner: runner,
		down:  breaker.Breaker{Failures: 1, Pause: storePause, Longest: storeLongest},
		spent: map[int]spentUntil{},
	}
	s.account = s.name("account")
	return s
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

// solName returns the key of a credential for the Store.
func (s *sharedStore) solName(c *CredencialesSOL) string { return s.name("sol", c.parts()...) }

// askStore asks the Store, for at most a second or half of the caller's time. A failed Store is skipped and probed in
// the background. An answer that comes too late goes to late, which may be nil.
func askStore[T any](ctx context.Context, s *sharedStore, do func(context.Context) (T, error), late func(context.Context, T) error) (none T, _ error) {
	if s.down.Open() {
		if s.down.Probe() {
			s.runner.Go(func() {
				_, _ = timed(ctx, s, func(ctx context.Context) (store.Claim, error) {
					return s.store.Claim(ctx, s.name("probe"), time.Second)
				}) // a Claim, because it writes
			})
		}
		return none, *s.why.Load()
	}
	patience := storeTimeout
	if deadline, bounded := ctx.Deadline(); bounded {
		patience = min(patience, time.Until(deadline)/2)
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	value, err := flight.Detached(limited, s.runner, func(ctx context.Context) (T, error) {
		return timed(ctx, s, do)
	}, func(value T) {
		if late != nil {
			_, _ = timed(ctx, s, func(ctx context.Context) (any, error) { return nil, late(ctx, value) })
		}
	})
	switch {
	case err == nil: // even if ctx has ended: the caller checks it
		return value, nil
	case ctx.Err() != nil:
		return none, ctx.Err()
	case limited.Err() != nil:
		err = fmt.Errorf("%T did not answer in time: %w", s.store, err)
	}
	if patience == storeTimeout { // even if the Store ignores its context
		s.failed(err)
	}
	return none, fmt.Errorf("%w: %w", errStoreAway, err)
}

// timed asks within storeAnswers, and records whether the Store failed. A slow answer is used, and counts as a failure.
func timed[T any](ctx context.Context, s *sharedStore, do func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeAnswers)
	defer cancel()
	value, err := do(ctx)
	failure := err
	if err == nil && ctx.Err() != nil {
		failure = fmt.Errorf("%T is slow: %w", s.store, ctx.Err())
	}
	if failure != nil {
		s.failed(failure)
	} else {
		s.down.Record(true)
	}
	if s.report.observer.logger != nil {
		s.log(ctx, failure)
	}
	return value, err
}

// log logs the Store's own error when an outage begins, and the end of that outage.
func (s *sharedStore) log(ctx context.Context, failure error) {
	if failure != nil {
		if _, begins := s.outage.Log(false); begins {
			s.report.observer.logger.WarnContext(ctx, "fiscope: the Store fails", slog.String("error", s.report.secrets.Line(failure.Error())))
		}
	} else {
		if _, lasted, ended := s.outage.End(); ended {
			s.report.observer.logger.InfoContext(ctx, "fiscope: the Store answers again", slog.String("duration", lasted.String()))
		}
	}
}

// failed records why the Store is away.
func (s *sharedStore) failed(why error) {
	why = fmt.Errorf("%w: %w", errStoreAway, why)
	s.why.Store(&why)
	s.down.Record(false)
}

// write writes to the Store in the background, unless it is away.
func (s *sharedStore) write(ctx context.Context, what func(context.Context) error) {
	if s.down.Open() {
		return
	}
	s.runner.Go(func() {
		_, _ = timed(ctx, s, func(ctx context.Context) (any, error) { return nil, what(ctx) })
	})
}

// writeNow writes to the Store and waits, even if ctx ends.
func (s *sharedStore) writeNow(ctx context.Context, what func(context.Context) error) error {
	_, err := askStore(context.WithoutCancel(ctx), s, func(ctx context.Context) (any, error) { return nil, what(ctx) }, nil)
	return err
}

// load returns what Save kept under a key; nil for nothing, or if the Store does not answer.
func (s *sharedStore) load(ctx context.Context, key string) []byte {
	value, _ := askStore(ctx, s, func(ctx context.Context) ([]byte, error) { return s.store.Load(ctx, key) }, nil)
	return value
}

// reserve reserves a query in the Store, and leaves reserve queries for others. It returns nil if the Store does not answer.
func (s *sharedStore) reserve(ctx context.Context, reserve int) *store.Reservation {
	s.mu.Lock()
	last, ok := s.spent[reserve]
	s.mu.Unlock()
	if ok && time.Now().Before(last.end) {
		return &last.Reservation
	}
	r, err := askStore(ctx, s, func(ctx context.Context) (store.Reservation, error) {
		return s.store.Reserve(ctx, s.account, reserve)
	}, func(ctx context.Context, r store.Reservation) error {
		if r.Grant == store.Spent {
			return nil
		}
		return s.store.Commit(ctx, s.account, r, store.Outcome{})
	})
	if err != nil {
		return nil
	}
	if r.Served || r.Left >= 0 { // the Store keeps no quota from answers that refuse the key
		s.report.observer.accepted.Store(true)
	}
	if r.Grant == store.Spent {
		s.mu.Lock()
		s.spent[reserve] = spentUntil{r, time.Now().Add(spentPause)}
		s.mu.Unlock()
	}
	return &r
}

// commit records the outcome of a reservation.
func (s *sharedStore) commit(ctx context.Context, r *store.Reservation, o store.Outcome) {
	if r.Grant == store.Spent {
		return
	}
	o.Reset, o.Date = s.clock.toReal(o.Reset), s.clock.toReal(o.Date)
	commit := func(ctx context.Context) error { return s.store.Commit(ctx, s.account, *r, o) }
	if o.Written == 0 || r.Grant != store.Probe && o.Remaining != 0 && !o.Refused {
		s.write(ctx, commit)
		return
	}
	_ = s.writeNow(ctx, commit) // the next call must see it
}
