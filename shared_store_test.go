package fiscope_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/internal/dayquota"
	"github.com/fiscope/fiscope/store"
	"github.com/fiscope/fiscope/store/storetest"
)

// errServerAway is what the server of a Store says while it is away.
var errServerAway = errors.New("dial tcp 127.0.0.1:6379: connection refused")

// memoryStore is a Store in memory that can be away.
type memoryStore struct {
	mu     sync.Mutex
	values map[string][]byte
	ttls   map[string]time.Duration
	saved  map[string]time.Time
	days   map[string]*dayquota.Day
	known  map[string]store.Claim // the verdict about a credential
	held   map[string]store.Claim // who is trying it
	names  map[string]bool        // all that were asked about
	asked  int                    // calls of any method
	token  int

	fails error         // away: each method returns it
	slow  time.Duration // before each method
	hangs bool          // no method returns before its context ends
	deaf  bool          // ... nor then, for a minute
	late  time.Duration // before each method, whatever its context

	enters func(method string) // called by each method first; nil for nothing
}

func newMemoryStore() *memoryStore {
	return &memoryStore{
		values: map[string][]byte{}, ttls: map[string]time.Duration{}, saved: map[string]time.Time{}, days: map[string]*dayquota.Day{},
		known: map[string]store.Claim{}, held: map[string]store.Claim{}, names: map[string]bool{},
	}
}

// enter begins a call of a method, which must unlock.
func (s *memoryStore) enter(ctx context.Context, method, name string) error {
	if s.enters != nil {
		s.enters(method)
	}
	s.mu.Lock()
	s.asked++
	s.names[name] = true
	wait := s.slow
	if s.hangs {
		wait = time.Hour
	}
	over := ctx.Done()
	if s.deaf {
		wait, over = time.Minute, nil
	} else if s.late > 0 {
		wait, over = s.late, nil
	}
	s.mu.Unlock()
	select {
	case <-time.After(wait):
	case <-over:
	}
	s.mu.Lock()
	if s.late > 0 {
		return s.fails
	}
	return cmp.Or(ctx.Err(), s.fails)
}

// calls returns how often a method was called.
func (s *memoryStore) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// set changes the store.
func (s *memoryStore) set(change func(*memoryStore)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

func (s *memoryStore) Load(ctx context.Context, key string) ([]byte, error) {
	err := s.enter(ctx, "Load", key)
	defer s.mu.Unlock()
	if time.Since(s.saved[key]) >= s.ttls[key] {
		return nil, err
	}
	return s.values[key], err
}

func (s *memoryStore) Save(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	err := s.enter(ctx, "Save", key)
	defer s.mu.Unlock()
	if err == nil {
		s.values[key], s.ttls[key], s.saved[key] = value, ttl, time.Now()
	}
	return err
}

func (s *memoryStore) day(account string) *dayquota.Day {
	if s.days[account] == nil {
		s.days[account] = new(dayquota.Day)
	}
	return s.days[account]
}

func (s *memoryStore) Reserve(ctx context.Context, account string, keep int) (store.Reservation, error) {
	err := s.enter(ctx, "Reserve", account)
	defer s.mu.Unlock()
	if err != nil {
		return store.Reservation{}, err
	}
	return s.day(account).Reserve(time.Now(), keep), nil
}

func (s *memoryStore) Commit(ctx context.Context, account string, r store.Reservation, o store.Outcome) error {
	err := s.enter(ctx, "Commit", account)
	defer s.mu.Unlock()
	if err == nil {
		s.day(account).Commit(time.Now(), r, o)
	}
	return err
}

func (s *memoryStore) Claim(ctx context.Context, credential string, hold time.Duration) (store.Claim, error) {
	err := s.enter(ctx, "Claim", credential)
	defer s.mu.Unlock()
	if err != nil {
		return store.Claim{}, err
	}
	now := time.Now()
	c := s.verdict(credential)
	if c.State == store.ClaimRefused || c.State == store.ClaimProven && now.Sub(c.Since) < store.Recent {
		return c, nil
	}
	c.State = store.ClaimBusy
	if held, ok := s.held[credential]; !ok || !now.Before(held.Until) {
		s.token++
		c.State, c.Token = store.ClaimGranted, strconv.Itoa(s.token)
		s.held[credential] = store.Claim{Until: now.Add(hold), Token: c.Token}
	}
	return c, nil
}

// verdict returns what is known of a credential.
func (s *memoryStore) verdict(credential string) (none store.Claim) {
	if known := s.known[credential]; time.Now().Before(known.Until) {
		return known
	}
	return none
}

func (s *memoryStore) Record(ctx context.Context, credential string, c store.Claim, v store.Verdict, memory time.Duration) error {
	err := s.enter(ctx, "Record", credential)
	defer s.mu.Unlock()
	if err != nil {
		return err
	}
	if c.Token != "" && s.held[credential].Token == c.Token {
		delete(s.held, credential)
	}
	now := time.Now()
	known := s.verdict(credential)
	refused := known.State == store.ClaimRefused
	switch {
	case v == store.VerdictRefused && refused && known.Until.After(now.Add(memory)): // the longer counts
	case v == store.VerdictRefused:
		s.known[credential] = store.Claim{State: store.ClaimRefused, Since: now, Until: now.Add(memory)}
	case v == store.VerdictProven && !refused: // otherwise it is older than the refusal
		s.known[credential] = store.Claim{State: store.ClaimProven, Since: now, Until: now.Add(memory)}
	case v == store.VerdictForget && refused:
		delete(s.known, credential)
	}
	return nil
}

// Advance makes what is known of credentials older.
func (s *memoryStore) Advance(d time.Duration) {
	for _, all := range []map[string]store.Claim{s.known, s.held} {
		for credential, c := range all {
			all[credential] = store.Claim{State: c.State, Since: c.Since.Add(-d), Until: c.Until.Add(-d), Token: c.Token}
		}
	}
}

// withStore returns a client that shares s, as one process of several.
func withStore(t testing.TB, s store.Store, rt http.RoundTripper, opts ...fiscope.Option) *fiscope.Client {
	t.Helper()
	return newClient(t, rt, append([]fiscope.Option{fiscope.WithStore(s), fiscope.WithMaxRetries(0)}, opts...)...)
}

func TestTheStoreOfTheseTestsIsOne(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store { return newMemoryStore() })
}

// A caller with little time is answered within it, and one who leaves is kept by nothing.
func TestAStoreThatHangsKeepsNoCaller(t *testing.T) {
	for name, change := range map[string]func(*memoryStore){
		"hangs": func(s *memoryStore) { s.hangs = true }, "hangs and heeds nothing": func(s *memoryStore) { s.deaf = true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newMemoryStore()
				s.set(change)
				ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
				defer cancel()
				require.NoError(t, operations["consultar"](ctx, withStore(t, s, &service{answers: []handler{raw(200, record)}})))

				ctx, cancel = context.WithCancel(t.Context())
				time.AfterFunc(100*time.Millisecond, cancel)
				start := time.Now()
				require.ErrorIs(t, operations["consultar"](ctx, withStore(t, s, &service{answers: []handler{raw(200, record)}})), context.Canceled)
				assert.Equal(t, 100*time.Millisecond, time.Since(start))
			})
		})
	}
}

// An outage has two lines, whatever the Store: its own error when it begins, and the end. Only the first lookups wait.
func TestTheLinesOfAStoresOutage(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*memoryStore)
		reason string
	}{
		"away": {away, errServerAway.Error()}, "hangs": {func(s *memoryStore) { s.hangs = true }, "context deadline exceeded"},
		"answers slowly":   {func(s *memoryStore) { s.late = 960 * time.Millisecond }, "*fiscope_test.memoryStore is slow: context deadline exceeded"},
		"answers too late": {func(s *memoryStore) { s.late = 1100 * time.Millisecond }, "*fiscope_test.memoryStore is slow: context deadline exceeded"},
	} {
		inBubble(t, name, func(t *testing.T) {
			var log bytes.Buffer
			s := newMemoryStore()
			client := withStore(t, s, handler(ofItsRUC), fiscope.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
			for range 2 {
				s.set(test.change)
				for n := range 60 { // an hour
					start := time.Now()
					together(10, func(i int) { assert.NoError(t, consultar(t.Context(), client, 10*n+i)) })
					assert.LessOrEqual(t, time.Since(start), map[bool]time.Duration{true: time.Second}[n == 0])
					time.Sleep(time.Minute)
				}
				lines := strings.Split(strings.TrimSpace(log.String()), "\n")
				assert.Len(t, lines, 1)
				assert.Contains(t, lines[0], "level=WARN msg=\"fiscope: the Store fails\" error=")
				assert.Contains(t, lines[0], test.reason)
				s.set(sound)
				for n := range 5 {
					require.NoError(t, consultar(t.Context(), client, n))
					time.Sleep(time.Minute)
				}
				lines = strings.Split(strings.TrimSpace(log.String()), "\n")
				assert.Len(t, lines, 2)
				assert.Contains(t, lines[1], "level=INFO msg=\"fiscope: the Store answers again\"")
				log.Reset()
			}
		})
	}
}

// The first answer of the day after a spent quota opens the day for the next call, however slow the Store is.
func TestTheDayAfterASpentQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newMemoryStore()
		reset := time.Now().Add(time.Hour)
		spent := raw(http.StatusOK, record, "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: "+reset.Format(time.RFC3339))
		yesterday := withStore(t, s, &service{answers: []handler{spent}})
		require.NoError(t, operations["consultar"](t.Context(), yesterday))
		var e *fiscope.Error
		require.ErrorAs(t, operations["consultar"](t.Context(), withStore(t, s, nil, fiscope.WithClock(newCalendar(t, "2026-11-20 09:00:00").now))), &e)
		assert.Equal(t, time.Hour, e.RetryAfter, "whatever its clock says")
		time.Sleep(2 * time.Hour)
		s.enters = func(method string) {
			if method == "Commit" {
				time.Sleep(100 * time.Millisecond)
			}
		}
		today := withStore(t, s, raw(http.StatusOK, verdict)) // a validation has no headers
		for range 3 {
			require.NoError(t, validar(t.Context(), today, clave))
		}
	})
}

// silent is a Store whose server does not answer, and that says so.
type silent struct{ *memoryStore }

func (silent) Claim(ctx context.Context, _ string, _ time.Duration) (store.Claim, error) {
	<-ctx.Done()
	return store.Claim{}, errServerAway
}

func TestTheErrorOfAStoreThatHangsIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := withStore(t, silent{newMemoryStore()}, raw(200, verdict))
		together(20, func(n int) {
			time.Sleep(time.Duration(n) * time.Millisecond)
			err := validar(t.Context(), client, "nunca-vista-"+strconv.Itoa(n))
			assert.ErrorIs(t, err, fiscope.ErrUnavailable)
			assert.ErrorContains(t, err, errServerAway.Error())
		})
	})
	synctest.Test(t, func(t *testing.T) {
		s := newMemoryStore()
		s.deaf = true
		err := validar(t.Context(), withStore(t, s, raw(200, verdict)), clave)
		assert.ErrorContains(t, err, "*fiscope_test.memoryStore did not answer in time: ", "it has no error of its own")
	})
}
