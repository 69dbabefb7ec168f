package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	form "github.com/fiscope/fiscope/internal/stored"
)

// fleetStore is a Store in memory that plays what a test tells it to.
type fleetStore struct {
	mu       sync.Mutex
	saved    map[string][]byte
	ttls     map[string]time.Duration
	fails    error
	reserve  func(keep int) fiscope.Reservation
	claims   []fiscope.Claim // one after the other, the last for good
	claimed  int
	settled  []fiscope.Outcome
	verdicts []fiscope.Verdict
	names    map[string]bool
	slow     time.Duration // of Load
	loads    atomic.Int64
}

func newFleetStore() *fleetStore {
	return &fleetStore{saved: map[string][]byte{}, ttls: map[string]time.Duration{}, names: map[string]bool{}}
}

// told returns what the store was told so far.
func (s *fleetStore) told() ([]fiscope.Verdict, []fiscope.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.verdicts, s.settled
}

func (s *fleetStore) lock(name string) func() {
	s.mu.Lock()
	s.names[name] = true
	return s.mu.Unlock
}

func (s *fleetStore) Load(_ context.Context, key string) ([]byte, error) {
	s.loads.Add(1)
	time.Sleep(s.slow) // in a bubble
	defer s.lock(key)()
	return s.saved[key], s.fails
}

func (s *fleetStore) Save(_ context.Context, key string, value []byte, ttl time.Duration) error {
	defer s.lock(key)()
	if s.fails == nil {
		s.saved[key], s.ttls[key] = value, ttl
	}
	return s.fails
}

func (s *fleetStore) Reserve(_ context.Context, account string, keep int) (fiscope.Reservation, error) {
	defer s.lock(account)()
	if s.reserve == nil || s.fails != nil {
		return fiscope.Reservation{Token: "t"}, s.fails
	}
	return s.reserve(keep), nil
}

func (s *fleetStore) Settle(ctx context.Context, account string, r fiscope.Reservation, o fiscope.Outcome) error {
	defer s.lock(account)()
	if ctx.Err() == nil && r.Token == "t" {
		s.settled = append(s.settled, o)
	}
	return s.fails
}

func (s *fleetStore) Claim(_ context.Context, credential string, hold time.Duration) (fiscope.Claim, error) {
	defer s.lock(credential)()
	if s.fails != nil || len(s.claims) == 0 || hold <= 0 {
		return fiscope.Claim{Token: "c"}, s.fails
	}
	s.claimed++
	return s.claims[min(s.claimed, len(s.claims))-1], nil
}

func (s *fleetStore) Conclude(_ context.Context, credential string, _ fiscope.Claim, v fiscope.Verdict, memory time.Duration) error {
	defer s.lock(credential)()
	if memory == 24*time.Hour {
		s.verdicts = append(s.verdicts, v)
	}
	return s.fails
}

func (s *fleetStore) Forget(_ context.Context, credential string) error {
	defer s.lock(credential)()
	s.claims = nil
	return s.fails
}

func fleetClient(t testing.TB, s *fleetStore, key string, answer func(*http.Request) (*http.Response, error)) (*fiscope.Client, *service) {
	t.Helper()
	far := &service{answers: []func(*http.Request) (*http.Response, error){answer}}
	client, err := fiscope.NewClient(baseURL, key, fiscope.WithHTTPClient(&http.Client{Transport: far}), fiscope.WithStore(s),
		fiscope.WithCache(fiscope.CachePolicy{StaleIfError: time.Hour}), fiscope.WithRetry(noRetries()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close(context.Background()) }) // a store may fail
	return client, far
}

func TestProcessesShareAnAnswer(t *testing.T) {
	for _, op := range []string{"consultar", "buscar", "tipocambio"} {
		t.Run(op, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newFleetStore()
				one, first := fleetClient(t, store, apiKey, raw(200, contract(t, fileOf[op])))
				two, second := fleetClient(t, store, apiKey, raw(500, ""))
				require.NoError(t, operations[op](t.Context(), one))
				time.Sleep(time.Minute)
				var resp fiscope.Response
				require.NoError(t, operations[op](t.Context(), two, fiscope.WithResponse(&resp)))
				assert.True(t, resp.FromCache)
				assert.Equal(t, time.Minute, resp.Age)
				assert.Len(t, first.seen(), 1)
				assert.Empty(t, second.seen())
			})
		})
	}
	for _, status := range []int{404, 200} {
		t.Run(fmt.Sprintf("that there is none, with %d", status), func(t *testing.T) {
			store := newFleetStore()
			body := contract(t, "consultar_404.json")
			one, _ := fleetClient(t, store, apiKey, raw(status, body))
			two, second := fleetClient(t, store, apiKey, raw(500, ""))
			require.ErrorIs(t, operations["consultar"](t.Context(), one), fiscope.ErrNotFound)
			require.NoError(t, one.Close(t.Context()))
			for range 2 {
				err := operations["consultar"](t.Context(), two)
				require.ErrorIs(t, err, fiscope.ErrNotFound)
				require.ErrorContains(t, err, "NOT_FOUND")
				var e *fiscope.Error
				require.ErrorAs(t, err, &e)
				assert.Equal(t, status, e.StatusCode)
				assert.Equal(t, body, string(e.Body()))
				assert.NotEmpty(t, e.Message)
				e.Body()[0] = 'x'
			}
			assert.Empty(t, second.seen())
		})
	}
}

// What another process asked for earlier does not serve where this one knows better, whichever came first
// into the store.
func TestAnOlderAnswerOfTheFleetDoesNotReplaceANewerOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFleetStore()
		slow, _ := fleetClient(t, store, apiKey, after(5*time.Second, raw(200, record)))
		far := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, change(record, "ACTIVO", "BAJA DEFINITIVA"))}}
		quick := newClient(t, far, fiscope.WithStore(store), fiscope.WithCache(fiscope.CachePolicy{Consulta: time.Minute}))
		var wg sync.WaitGroup
		wg.Go(func() { assert.NoError(t, operations["consultar"](t.Context(), slow)) })
		time.Sleep(time.Second)
		require.NoError(t, operations["consultar"](t.Context(), quick))
		wg.Wait()
		time.Sleep(time.Minute)
		c, err := quick.Contribuyentes.Consultar(t.Context(), rucSUNAT)
		require.NoError(t, err)
		assert.True(t, c.Estado.Baja())
		assert.Len(t, far.seen(), 2)
	})
}

func TestTwoAPIKeysNeverShareAnything(t *testing.T) {
	store := newFleetStore()
	one, _ := fleetClient(t, store, apiKey, raw(200, record))
	require.NoError(t, operations["consultar"](t.Context(), one))
	require.Error(t, operations["validar"](t.Context(), one))
	require.NoError(t, one.Close(t.Context()))
	names := maps.Clone(store.names)
	clear(store.names)
	two, second := fleetClient(t, store, "otra-llave", raw(200, record))
	require.NoError(t, operations["consultar"](t.Context(), two))
	require.Error(t, operations["validar"](t.Context(), two))
	require.NoError(t, two.Close(t.Context()))
	assert.Len(t, second.seen(), 2)
	for name := range store.names {
		assert.NotContains(t, names, name)
	}

	clear(store.names)
	elsewhere, err := fiscope.NewClient("https://otro.fiscope.example", apiKey, fiscope.WithStore(store), fiscope.WithCache(fiscope.CachePolicy{}),
		fiscope.WithHTTPClient(&http.Client{Transport: roundTripper(raw(200, record))}))
	require.NoError(t, err)
	require.NoError(t, operations["consultar"](t.Context(), elsewhere))
	require.NoError(t, elsewhere.Close(t.Context()))
	for name := range store.names {
		assert.NotContains(t, names, name, "nor do two services")
	}
}

func TestOneServiceIsOneQuotaHoweverItIsWritten(t *testing.T) {
	account := func(baseURL string) string {
		store := newFleetStore()
		client, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithStore(store), fiscope.WithHTTPClient(&http.Client{Transport: roundTripper(raw(200, record))}))
		require.NoError(t, err, baseURL)
		require.NoError(t, operations["consultar"](t.Context(), client))
		require.NoError(t, client.Close(t.Context()))
		require.Len(t, store.names, 1)
		for name := range store.names {
			return name
		}
		return ""
	}
	for name, test := range map[string]struct{ same, others []string }{
		"this machine": {
			[]string{"http://localhost", "http://LOCALHOST", "HTTP://Localhost:80", "http://localhost/", "http://localhost:80//"},
			[]string{"https://localhost", "http://localhost:8080", "http://localhost:443", "http://localhost/v1", "http://127.0.0.1"},
		},
		"another": {
			[]string{"https://h", "https://h:443", "https://H:0443", "https://h:443/"},
			[]string{"https://h:80", "https://h:4430", "https://h/443", "https://h/:443", "https://h.example"},
		},
		"an address": {
			[]string{"https://[2001:db8::443]", "https://[2001:DB8::443]:443"},
			[]string{"https://[2001:db8::]", "https://[2001:db8::443]:80"},
		},
		"with a path": {
			[]string{"https://h/a:443/b", "https://h:443/a:443/b"},
			[]string{"https://h/a/b", "https://h:443/a:443", "https://h/A:443/b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := account(test.same[0])
			for _, baseURL := range test.same {
				assert.Equal(t, want, account(baseURL), baseURL)
			}
			for _, baseURL := range test.others {
				assert.NotEqual(t, want, account(baseURL), baseURL)
			}
		})
	}
}

func TestAStoreLearnsNoSecretAndNoName(t *testing.T) {
	store := newFleetStore()
	client, _ := fleetClient(t, store, apiKey, raw(200, record))
	require.NoError(t, operations["consultar"](t.Context(), client))
	require.Error(t, operations["validar"](t.Context(), client))
	require.NoError(t, client.Close(t.Context()))
	assert.GreaterOrEqual(t, len(store.names), 3)
	for name := range store.names {
		assert.Regexp(t, `^[0-9a-f]{32}$`, name)
	}
	require.NotEmpty(t, store.saved)
	for _, value := range store.saved {
		a, ok := form.Unpack(value, 1<<20)
		require.True(t, ok)
		assert.False(t, leaks(string(a.Body), apiKey) || leaks(string(a.Body), clave), "a secret is stored")
	}
}

func TestForeignBytesAreAMiss(t *testing.T) {
	good := func(t *testing.T) (store *fleetStore, key string) {
		store = newFleetStore()
		client, _ := fleetClient(t, store, apiKey, raw(200, record))
		require.NoError(t, operations["consultar"](t.Context(), client))
		require.NoError(t, client.Close(t.Context()))
		for key = range store.saved {
		}
		return store, key
	}
	changed := func(change func(*form.Answer)) func(string) string {
		return func(s string) string {
			a, _ := form.Unpack([]byte(s), 1<<20)
			change(&a)
			return string(form.Pack(a))
		}
	}
	for name, spoil := range map[string]func(string) string{
		"empty":            func(string) string { return "" },
		"null":             func(string) string { return "null" },
		"garbage":          func(string) string { return "\xff\xfe\x00" },
		"another program":  func(string) string { return `{"ruc":"20131312955"}` },
		"cut":              func(s string) string { return s[:len(s)/2] },
		"another version":  func(s string) string { return "\x03" + s[1:] },
		"of another age":   func(string) string { return `{"v":1,"status":200,"stored":"2026-01-01T00:00:00Z"}` },
		"another status":   changed(func(a *form.Answer) { a.Status = 500 }),
		"a spoiled body":   changed(func(a *form.Answer) { a.Body = append([]byte("AAAA"), a.Body...) }),
		"from tomorrow":    changed(func(a *form.Answer) { a.Stored = a.Stored.AddDate(0, 0, 1) }),
		"expired long ago": changed(func(a *form.Answer) { a.Expires = a.Expires.AddDate(-1, 0, 0) }),
	} {
		t.Run(name, func(t *testing.T) {
			store, key := good(t)
			before := string(store.saved[key])
			after := spoil(before)
			require.NotEqual(t, before, after)
			store.saved[key] = []byte(after)
			client, far := fleetClient(t, store, apiKey, raw(200, record))
			require.NoError(t, operations["consultar"](t.Context(), client), "a miss, not an error")
			require.NoError(t, client.Close(t.Context()))
			assert.Len(t, far.seen(), 1)
			assert.NotEqual(t, after, string(store.saved[key]), "and it is mended")
		})
	}
	t.Run("another's record", func(t *testing.T) {
		store, key := good(t)
		other, _ := fleetClient(t, store, apiKey, raw(200, change(record, rucSUNAT, rucEmisor)))
		_, err := other.Contribuyentes.Consultar(t.Context(), rucEmisor)
		require.NoError(t, err)
		require.NoError(t, other.Close(t.Context()))
		for k, v := range store.saved {
			if k != key {
				store.saved[key] = v
			}
		}
		for _, opts := range [][]fiscope.Option{nil, {fiscope.WithLenientReading()}} {
			far := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, record)}}
			client := newClient(t, far, append(opts, fiscope.WithStore(store), fiscope.WithCache(fiscope.CachePolicy{Consulta: -1}))...)
			c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
			require.NoError(t, err)
			assert.Equal(t, rucSUNAT, c.RUC)
			assert.Len(t, far.seen(), 1)
		}
	})
}

func TestASharedAnswerHasATime(t *testing.T) {
	store := newFleetStore()
	client, _ := fleetClient(t, store, apiKey, raw(200, record))
	require.NoError(t, operations["consultar"](t.Context(), client))
	require.NoError(t, client.Close(t.Context()))
	require.NotEmpty(t, store.ttls)
	for _, ttl := range store.ttls {
		assert.Equal(t, 13*time.Hour, ttl, "12 hours, and one more for when the service cannot be asked")
	}
}

func TestAStoreThatFailsCostsNothingButQueries(t *testing.T) {
	store := newFleetStore()
	store.fails = errors.New("redis is away")
	client, _ := fleetClient(t, store, apiKey, raw(200, record))
	require.NoError(t, operations["consultar"](t.Context(), client))
	wrong, far := fleetClient(t, store, apiKey, raw(401, contract(t, "validar_401.json")))
	require.ErrorIs(t, validar(t.Context(), wrong, clave), fiscope.ErrInvalidSOLCredentials)
	require.ErrorIs(t, validar(t.Context(), wrong, clave), fiscope.ErrSOLCredentialsBlocked, "the local guard holds")
	assert.Len(t, far.seen(), 1)
}

func TestTheFleetsQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFleetStore()
		until := time.Now().Add(time.Hour)
		asked := 0
		store.reserve = func(keep int) fiscope.Reservation {
			asked++
			switch {
			case asked < 4:
				return fiscope.Reservation{Grant: fiscope.QuotaWait}
			case keep > 0:
				return fiscope.Reservation{Grant: fiscope.QuotaSpent, Left: 2, Until: until}
			}
			return fiscope.Reservation{Token: "t"}
		}
		client, far := fleetClient(t, store, apiKey, raw(200, verdict, "X-RateLimit-Remaining: 7"))
		start := time.Now()
		require.NoError(t, operations["validar"](t.Context(), client))
		assert.Greater(t, time.Since(start), 30*time.Millisecond, "it asks again while another process finds out")
		assert.Equal(t, 4, asked)
		require.NoError(t, client.Close(t.Context()))
		require.Len(t, store.settled, 1)
		assert.Equal(t, fiscope.Outcome{Written: 1, StatusCode: 200, RateLimit: &fiscope.RateLimit{Limit: fiscope.NoHeader, Remaining: 7}}, store.settled[0])

		err := operations["validar"](t.Context(), client, fiscope.WithQuotaReserve(2))
		require.ErrorIs(t, err, fiscope.ErrQuotaExceeded)
		assert.ErrorContains(t, err, "2 queries are left, and 2 are kept in reserve until")
		var e *fiscope.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, time.Until(until), e.RetryAfter)
		assert.Len(t, far.seen(), 1)

		asked = -1000 // for ever
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, operations["validar"](ctx, client), context.DeadlineExceeded)
		assert.Len(t, far.seen(), 1)
	})
}

func TestWhatWasNotWrittenIsGivenBackEvenByACallerThatLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFleetStore()
		ctx, cancel := context.WithCancel(t.Context())
		client, _ := fleetClient(t, store, apiKey, func(r *http.Request) (*http.Response, error) {
			cancel()
			return hangs(r)
		})
		require.ErrorIs(t, operations["validar"](ctx, client), context.Canceled)
		require.NoError(t, client.Close(t.Context()))
		require.Len(t, store.settled, 1)
		assert.Equal(t, fiscope.Outcome{Written: 1}, store.settled[0], "nobody knows: it counts as spent")
	})
}

// However long a store takes to decide, a caller waits no longer than his own context.
func TestACallerWhoseTimeIsOverWaitsForNoStore(t *testing.T) {
	for op := range operations {
		for name, opts := range map[string][]fiscope.Option{
			"by itself":         nil,
			"with a cache":      {fiscope.WithCache(fiscope.CachePolicy{})},
			"sharing queries":   {fiscope.WithCoalescing()},
			"while others wait": nil,
		} {
			for end, want := range map[string]error{"deadline": context.DeadlineExceeded, "cancelled": context.Canceled} {
				t.Run(op+", "+name+", "+end, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						store := newFleetStore()
						store.reserve = func(int) fiscope.Reservation {
							store.mu.Unlock()
							time.Sleep(1030 * time.Millisecond)
							store.mu.Lock()
							return fiscope.Reservation{Grant: fiscope.QuotaAway}
						}
						far := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, record)}}
						client, err := fiscope.NewClient(baseURL, apiKey, append(opts, fiscope.WithStore(store), fiscope.WithHTTPClient(&http.Client{Transport: far}))...)
						require.NoError(t, err)
						if name == "while others wait" {
							for range 3 {
								go func() { _ = operations[op](t.Context(), client) }()
							}
							synctest.Wait()
						}
						ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
						defer cancel()
						if end == "cancelled" {
							ctx, cancel = context.WithCancel(t.Context())
							time.AfterFunc(300*time.Millisecond, cancel)
						}
						start := time.Now()
						require.ErrorIs(t, operations[op](ctx, client), want)
						assert.Equal(t, 300*time.Millisecond, time.Since(start))
						time.Sleep(time.Minute)
						assert.Empty(t, far.seen(), "nothing is sent without a reservation")
						require.NoError(t, client.Close(t.Context()))
					})
				})
			}
		}
	}
}

func TestAReservationThatComesTooLateIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFleetStore()
		ctx, cancel := context.WithCancel(t.Context())
		store.reserve = func(int) fiscope.Reservation {
			cancel()
			return fiscope.Reservation{Token: "t"}
		}
		client, far := fleetClient(t, store, apiKey, raw(200, verdict))
		require.ErrorIs(t, operations["validar"](ctx, client), context.Canceled)
		assert.Empty(t, far.seen())
		require.NoError(t, client.Close(t.Context()))
		assert.Equal(t, []fiscope.Outcome{{}}, store.settled, "nobody sends it")
	})
}

func TestTheFleetsSOLGuard(t *testing.T) {
	refused := fiscope.Claim{State: fiscope.ClaimRefused, Since: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)}
	busy := fiscope.Claim{State: fiscope.ClaimBusy}
	for name, test := range map[string]struct {
		claims   []fiscope.Claim
		answer   func(*http.Request) (*http.Response, error)
		is       error
		sent     int
		verdicts []fiscope.Verdict
	}{
		"nothing is known, and it is right": {nil, raw(200, verdict), nil, 1, []fiscope.Verdict{fiscope.VerdictProven}},
		"nothing is known, and it is wrong": {nil, raw(401, contract(t, "validar_401.json")), fiscope.ErrInvalidSOLCredentials, 1, []fiscope.Verdict{fiscope.VerdictRefused}},
		"nothing is known, and stays so":    {nil, raw(500, ""), fiscope.ErrUnavailable, 1, []fiscope.Verdict{fiscope.VerdictNone}},
		"another process was refused":       {[]fiscope.Claim{refused}, raw(200, verdict), fiscope.ErrSOLCredentialsBlocked, 0, nil},
		"another process proved it":         {[]fiscope.Claim{{State: fiscope.ClaimProven}}, raw(200, verdict), nil, 1, nil},
		"proven, and refused later":         {[]fiscope.Claim{{State: fiscope.ClaimProven}}, raw(401, contract(t, "validar_401.json")), fiscope.ErrInvalidSOLCredentials, 1, []fiscope.Verdict{fiscope.VerdictRefused}},
		"another process is trying":         {[]fiscope.Claim{busy, busy, refused}, raw(200, verdict), fiscope.ErrSOLCredentialsBlocked, 0, nil},
		"another process does not finish":   {[]fiscope.Claim{busy}, raw(200, verdict), fiscope.ErrUnavailable, 0, nil},
		"a state that nobody knows":         {[]fiscope.Claim{{State: 9}}, raw(200, verdict), fiscope.ErrUnavailable, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newFleetStore()
				store.claims = test.claims
				client, far := fleetClient(t, store, apiKey, test.answer)
				start := time.Now()
				err := validar(t.Context(), client, clave)
				assert.LessOrEqual(t, time.Since(start), 31*time.Second)
				if test.is == nil {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, test.is)
				}
				assert.Len(t, far.seen(), test.sent)
				require.NoError(t, client.Close(t.Context()))
				assert.Equal(t, test.verdicts, store.verdicts)
			})
		})
	}
	t.Run("forgotten everywhere", func(t *testing.T) {
		store := newFleetStore()
		store.claims = []fiscope.Claim{refused}
		client, _ := fleetClient(t, store, apiKey, raw(200, verdict))
		require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrSOLCredentialsBlocked)
		client.CPE.Olvidar(credenciales)
		require.NoError(t, validar(t.Context(), client, clave))
	})
	t.Run("a proven one asks the store each time", func(t *testing.T) {
		store := newFleetStore()
		store.claims = []fiscope.Claim{{State: fiscope.ClaimProven}}
		client, _ := fleetClient(t, store, apiKey, raw(200, verdict))
		for range 10 {
			require.NoError(t, validar(t.Context(), client, clave))
		}
		assert.Equal(t, 10, store.claimed)
	})
}

func TestWithStoreRefusesNone(t *testing.T) {
	_, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithStore(nil))
	require.Error(t, err)
}

// sharedGuard is a Store that keeps what is known of credentials as the documentation says, in memory.
type sharedGuard struct {
	*fleetStore
	away  bool          // every call fails
	panic func()        // is what every call does
	holds time.Duration // of the last claim
	kept  map[string]*kept
}

type kept struct {
	claim fiscope.Claim
	until time.Time
}

func newSharedGuard() *sharedGuard {
	return &sharedGuard{fleetStore: newFleetStore(), kept: map[string]*kept{}}
}

func (s *sharedGuard) begin(name string) (unlock func(), err error) {
	unlock = s.lock(name)
	if s.panic != nil {
		defer unlock()
		s.panic()
	}
	if s.away {
		return unlock, errors.New("redis is away")
	}
	return unlock, nil
}

func (s *sharedGuard) Claim(_ context.Context, name string, hold time.Duration) (fiscope.Claim, error) {
	unlock, err := s.begin(name)
	defer unlock()
	if err != nil {
		return fiscope.Claim{}, err
	}
	s.claimed++
	s.holds = hold
	k := s.kept[name]
	switch {
	case k == nil || !time.Now().Before(k.until):
		s.kept[name] = &kept{fiscope.Claim{State: fiscope.ClaimGranted}, time.Now().Add(hold)}
		return fiscope.Claim{State: fiscope.ClaimGranted}, nil
	case k.claim.State == fiscope.ClaimGranted:
		return fiscope.Claim{State: fiscope.ClaimBusy}, nil
	}
	return k.claim, nil
}

func (s *sharedGuard) Conclude(_ context.Context, name string, _ fiscope.Claim, v fiscope.Verdict, memory time.Duration) error {
	unlock, err := s.begin(name)
	defer unlock()
	if err != nil {
		return err
	}
	s.verdicts = append(s.verdicts, v)
	k := &kept{fiscope.Claim{State: fiscope.ClaimProven, Since: time.Now()}, time.Now().Add(memory)}
	switch v {
	case fiscope.VerdictRefused:
		k.claim.State, k.claim.Until = fiscope.ClaimRefused, k.until
	case fiscope.VerdictNone:
		k = nil
	}
	s.kept[name] = k
	return nil
}

func (s *sharedGuard) Forget(_ context.Context, name string) error {
	unlock, err := s.begin(name)
	defer unlock()
	if err == nil {
		delete(s.kept, name)
	}
	return err
}

func (s *sharedGuard) goAway(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
}

// process returns a client of the fleet.
func (s *sharedGuard) process(t *testing.T, rt http.RoundTripper, opts ...fiscope.Option) *fiscope.Client {
	return newClient(t, rt, append(opts, fiscope.WithStore(s), fiscope.WithRetry(noRetries()))...)
}

func TestAStoreThatPanicsLeavesNoTurnTaken(t *testing.T) {
	panics := func() { panic("the store") }
	for _, name := range []string{"in Claim", "in Conclude", "in Forget"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newSharedGuard()
				client := store.process(t, &service{answers: []func(*http.Request) (*http.Response, error){func(r *http.Request) (*http.Response, error) {
					if name == "in Conclude" {
						store.panic = panics
					}
					return raw(500, "")(r)
				}, raw(200, verdict)}})
				if name == "in Claim" {
					store.panic = panics
				}
				switch name {
				case "in Claim":
					func() {
						defer func() { assert.Equal(t, "the store", panicValue(recover())) }()
						_ = validar(t.Context(), client, clave)
					}()
				case "in Conclude":
					require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrUnavailable)
					synctest.Wait()
				case "in Forget":
					require.Error(t, validar(t.Context(), client, clave))
					synctest.Wait()
					store.panic = panics
					client.CPE.Olvidar(credenciales)
				}
				store.panic = nil
				start := time.Now()
				_ = validar(t.Context(), client, clave)
				time.Sleep(time.Minute) // a claim that nobody concluded ends
				require.NoError(t, validar(t.Context(), client, clave))
				assert.LessOrEqual(t, time.Since(start), 3*time.Minute)
			})
		})
	}
}

func TestARefusalInTheFleetIsRememberedHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newSharedGuard()
		far := &service{answers: []func(*http.Request) (*http.Response, error){raw(401, contract(t, "validar_401.json")), raw(200, verdict)}}
		one, other := store.process(t, far), store.process(t, far)
		require.ErrorIs(t, validar(t.Context(), one, clave), fiscope.ErrInvalidSOLCredentials)
		time.Sleep(time.Hour)
		err := validar(t.Context(), other, clave)
		require.ErrorIs(t, err, fiscope.ErrSOLCredentialsBlocked)
		assert.ErrorContains(t, err, "another process was refused with this SOL user and clave at 2000-01-01T00:00:00Z")
		store.goAway(true)
		time.Sleep(22 * time.Hour)
		require.ErrorIs(t, validar(t.Context(), other, clave), fiscope.ErrSOLCredentialsBlocked, "without the store")
		assert.Len(t, far.seen(), 1)
		time.Sleep(time.Hour)
		require.NoError(t, validar(t.Context(), other, clave), "for as long as the fleet would")
	})
}

func TestTheFleetIsToldOfARefusal(t *testing.T) {
	refused := raw(401, contract(t, "validar_401.json"))
	for name, test := range map[string]struct {
		refuse func(*testing.T, *sharedGuard, *fiscope.Client)
		tell   func(*testing.T, *sharedGuard, *fiscope.Client)
	}{
		"at once": {
			func(t *testing.T, _ *sharedGuard, c *fiscope.Client) { _ = validar(t.Context(), c, clave) },
			func(*testing.T, *sharedGuard, *fiscope.Client) {},
		},
		"by Close, where the store was away": {
			func(t *testing.T, s *sharedGuard, c *fiscope.Client) {
				s.goAway(true)
				_ = validar(t.Context(), c, clave)
			},
			func(t *testing.T, s *sharedGuard, c *fiscope.Client) {
				require.ErrorContains(t, c.Close(t.Context()), "redis is away")
				s.goAway(false)
				require.NoError(t, c.Close(t.Context()))
			},
		},
		"by Close, where the store went away meanwhile": {
			func(t *testing.T, s *sharedGuard, c *fiscope.Client) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				defer cancel()
				_ = validar(ctx, c, clave)
				s.goAway(true)
				time.Sleep(time.Minute)
			},
			func(t *testing.T, s *sharedGuard, c *fiscope.Client) {
				s.goAway(false)
				require.NoError(t, c.Close(t.Context()))
			},
		},
		"by itself, where the store was away": {
			func(t *testing.T, s *sharedGuard, c *fiscope.Client) {
				s.goAway(true)
				_ = validar(t.Context(), c, clave)
				time.Sleep(time.Hour)
			},
			func(t *testing.T, s *sharedGuard, c *fiscope.Client) {
				s.goAway(false)
				time.Sleep(6 * time.Second)
			},
		},
		"before the next claim": {
			func(t *testing.T, s *sharedGuard, c *fiscope.Client) {
				s.goAway(true)
				_ = validar(t.Context(), c, clave)
				s.goAway(false)
			},
			func(t *testing.T, s *sharedGuard, c *fiscope.Client) { _ = validar(t.Context(), c, "otra") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newSharedGuard()
				client := store.process(t, &service{answers: []func(*http.Request) (*http.Response, error){slowly(refused)}})
				test.refuse(t, store, client)
				test.tell(t, store, client)
				far := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, verdict)}}
				require.ErrorIs(t, validar(t.Context(), store.process(t, far), clave), fiscope.ErrSOLCredentialsBlocked)
				assert.Empty(t, far.seen())
			})
		})
	}
}

// slowGuard is a sharedGuard that takes its time to be told of a refusal.
type slowGuard struct {
	*sharedGuard
	takes     atomic.Int64 // ns
	concluded atomic.Int64
}

func (s *slowGuard) Conclude(ctx context.Context, name string, c fiscope.Claim, v fiscope.Verdict, memory time.Duration) error {
	s.concluded.Add(1)
	takes := time.Duration(s.takes.Load())
	if v != fiscope.VerdictRefused {
		takes = 0
	}
	select {
	case <-time.After(takes):
		return s.sharedGuard.Conclude(ctx, name, c, v, memory)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// owing returns a client that owes the store a refusal of each of these, and the service beside it, where they
// are right by now.
func owing(t *testing.T, store *slowGuard, claves ...string) (*fiscope.Client, *service) {
	s := &service{answers: []func(*http.Request) (*http.Response, error){raw(401, contract(t, "validar_401.json"))}}
	client := newClient(t, s, fiscope.WithStore(store))
	store.goAway(true)
	for _, clave := range claves {
		require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrInvalidSOLCredentials)
	}
	synctest.Wait()
	store.goAway(false)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = []func(*http.Request) (*http.Response, error){raw(200, verdict)}
	return client, s
}

func TestWhatIsOwedHidesNoRefusalOfTheFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowGuard{sharedGuard: newSharedGuard()}
		client, far := owing(t, store, "una", "dos", "tres", "cuatro", "cinco")
		other := store.process(t, roundTripper(raw(401, contract(t, "validar_401.json"))))
		require.ErrorIs(t, validar(t.Context(), other, clave), fiscope.ErrInvalidSOLCredentials)
		store.takes.Store(int64(900 * time.Millisecond))
		start, sent, before := time.Now(), len(far.seen()), store.concluded.Load()
		require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrSOLCredentialsBlocked)
		assert.Zero(t, time.Since(start))
		assert.Len(t, far.seen(), sent)
		time.Sleep(5 * time.Second)
		assert.EqualValues(t, 5, store.concluded.Load()-before, "meanwhile it was told the five, each once more")
		require.NoError(t, client.Close(t.Context()))
	})
}

func TestWhatIsOwedIsOffThePathOfAValidation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowGuard{sharedGuard: newSharedGuard()}
		client, far := owing(t, store, "una", "dos")
		store.takes.Store(int64(time.Hour))
		start, before := time.Now(), store.concluded.Load()
		for i := range 20 {
			require.NoError(t, validar(t.Context(), client, fmt.Sprint("otra", i)))
		}
		assert.Zero(t, time.Since(start))
		synctest.Wait()
		assert.EqualValues(t, 21, store.concluded.Load()-before, "the twenty, and one that is owed")
		assert.Len(t, far.seen(), 22)
		time.Sleep(2 * time.Second)
		before = store.concluded.Load()
		require.NoError(t, validar(t.Context(), client, "otra más"))
		synctest.Wait()
		assert.EqualValues(t, 1, store.concluded.Load()-before, "after that the store is left alone with it")

		require.ErrorContains(t, client.Close(t.Context()), "was not told of a refusal: it did not answer in time: context deadline exceeded")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, errors.New("the process ends"))
		defer cancel()
		start = time.Now()
		require.ErrorContains(t, client.Close(ctx), "the process ends")
		assert.Equal(t, 100*time.Millisecond, time.Since(start))
		time.Sleep(time.Minute)
		store.takes.Store(0)
		require.NoError(t, validar(t.Context(), client, "la última"))
		synctest.Wait()
		for _, clave := range []string{"una", "dos"} {
			require.ErrorIs(t, validar(t.Context(), store.process(t, roundTripper(raw(200, verdict))), clave), fiscope.ErrSOLCredentialsBlocked)
		}
	})
}

func TestWhatIsOwedIsForgottenByOlvidar(t *testing.T) {
	for name, tell := range map[string]func(*testing.T, *fiscope.Client){
		"while a validation of another has it told": func(t *testing.T, c *fiscope.Client) { assert.NoError(t, validar(t.Context(), c, "otra")) },
		"while Close tells it":                      func(t *testing.T, c *fiscope.Client) { assert.NoError(t, c.Close(t.Context())) },
		"before anybody tells it":                   func(*testing.T, *fiscope.Client) {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &slowGuard{sharedGuard: newSharedGuard()}
				client, _ := owing(t, store, clave)
				store.takes.Store(int64(500 * time.Millisecond))
				go tell(t, client)
				time.Sleep(100 * time.Millisecond)
				client.CPE.Olvidar(credenciales)
				require.NoError(t, validar(t.Context(), client, clave), "nothing was refused since")
				require.NoError(t, client.Close(t.Context()))
				require.NoError(t, validar(t.Context(), store.process(t, roundTripper(raw(200, verdict))), clave), "nor is it told later")
			})
		})
	}
	t.Run("and nobody validates here meanwhile", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := &slowGuard{sharedGuard: newSharedGuard()}
			client, _ := owing(t, store, clave)
			store.takes.Store(int64(500 * time.Millisecond))
			client.CPE.Olvidar(credenciales)
			require.NoError(t, client.Close(t.Context()))
			require.NoError(t, validar(t.Context(), store.process(t, roundTripper(raw(200, verdict))), clave))
		})
	})
}

func TestAFleetTriesAChangedClaveOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newSharedGuard()
		a := &authority{right: clave, takes: time.Second, sent: map[string]int{}}
		var processes []*fiscope.Client
		for range 20 {
			processes = append(processes, store.process(t, a))
		}
		all := func(check func(error)) {
			together(100, func(i int) { check(validar(t.Context(), processes[i%20], clave)) })
		}
		all(func(err error) { assert.NoError(t, err) })
		time.Sleep(3 * time.Hour)
		start := time.Now()
		all(func(err error) { assert.NoError(t, err) })
		assert.LessOrEqual(t, time.Since(start), 3*time.Second, "one goes first, and then all")
		time.Sleep(3 * time.Hour)
		a.change("la-nueva")
		all(func(err error) { assert.ErrorIs(t, err, fiscope.ErrInvalidSOLCredentials) })
		assert.Equal(t, 1, a.refused)
	})
}

func TestAClaimIsHeldForAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newSharedGuard()
		far := &service{answers: []func(*http.Request) (*http.Response, error){hangs}}
		client := store.process(t, far, fiscope.WithTimeout(time.Second, 45*time.Second), fiscope.WithRateLimit(1.0/600, 1))
		_ = operations["consultar"](t.Context(), client)
		start := time.Now()
		_ = validar(t.Context(), client, clave)
		assert.Greater(t, time.Since(start), 9*time.Minute, "it waited for the limiter")
		require.Len(t, far.seen(), 2)
		assert.Greater(t, store.holds, 45*time.Second)
		assert.LessOrEqual(t, store.holds, time.Minute)
		other := store.process(t, &service{answers: []func(*http.Request) (*http.Response, error){raw(200, verdict)}})
		require.NoError(t, validar(t.Context(), other, clave), "and given back at its end")
	})
	synctest.Test(t, func(t *testing.T) {
		store := newSharedGuard()
		far := &service{answers: []func(*http.Request) (*http.Response, error){slowly(raw(401, ""))}}
		one, other := store.process(t, far, fiscope.WithRateLimit(1.0/600, 1)), store.process(t, far)
		_ = operations["consultar"](t.Context(), one)
		var wg sync.WaitGroup
		wg.Go(func() { assert.ErrorIs(t, validar(t.Context(), one, clave), fiscope.ErrSOLCredentialsBlocked) })
		time.Sleep(5 * time.Minute)
		require.ErrorIs(t, validar(t.Context(), other, clave), fiscope.ErrUnauthorized, "one that waits for its limiter holds no claim")
		wg.Wait()
		assert.Len(t, far.seen(), 2)
	})
}

func TestOlvidarTakesOnlyRefusalsFromTheFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newSharedGuard()
		a := &authority{right: clave, takes: time.Second, sent: map[string]int{}}
		one, other := store.process(t, a), store.process(t, a)
		require.NoError(t, validar(t.Context(), one, clave))
		one.CPE.Olvidar(credenciales)
		other.CPE.Olvidar(credenciales)
		start := time.Now()
		together(10, func(int) { assert.NoError(t, validar(t.Context(), other, clave)) })
		assert.Equal(t, time.Second, time.Since(start), "a proven one stays proven")

		var wg sync.WaitGroup
		wg.Go(func() { assert.Error(t, validar(t.Context(), one, "equivocada")) })
		synctest.Wait()
		wrong := credenciales
		wrong.Clave = fiscope.NewSecreto("equivocada")
		other.CPE.Olvidar(wrong)
		assert.ErrorIs(t, validar(t.Context(), other, "equivocada"), fiscope.ErrSOLCredentialsBlocked)
		wg.Wait()
		assert.Equal(t, 1, a.refused, "the claim of one that is being tried stays")

		other.CPE.Olvidar(wrong)
		assert.ErrorIs(t, validar(t.Context(), other, "equivocada"), fiscope.ErrInvalidSOLCredentials)
		assert.Equal(t, 2, a.refused)
	})
}

func TestAnAttemptThatReachedNobodyGivesItsClaimBack(t *testing.T) {
	policy := noRetries()
	policy.MaxRetries, policy.RetryUnsentPOST = 1, true
	policy.Base = time.Hour
	policy.Cap = time.Hour
	// unreachable is a transport that tells that it gets no connection.
	unreachable := func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).GetConn("x")
		return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	}
	synctest.Test(t, func(t *testing.T) {
		store := newSharedGuard()
		far := &service{answers: []func(*http.Request) (*http.Response, error){unreachable, raw(200, verdict)}}
		client := newClient(t, far, fiscope.WithStore(store), fiscope.WithRetry(policy))
		require.NoError(t, validar(t.Context(), client, clave))
		assert.Equal(t, 2, store.claimed, "it is claimed anew after the wait")
		require.NoError(t, client.Close(t.Context()))
		verdicts, _ := store.told()
		assert.Equal(t, []fiscope.Verdict{fiscope.VerdictNone, fiscope.VerdictProven}, verdicts)
	})
	synctest.Test(t, func(t *testing.T) {
		far := &service{answers: []func(*http.Request) (*http.Response, error){unreachable, raw(200, verdict)}}
		client := newClient(t, far, fiscope.WithRetry(policy))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		err := validar(ctx, client, clave)
		require.ErrorIs(t, err, context.Canceled)
		var e *fiscope.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, fiscope.DeliveryNotSent, e.Delivery, "nothing goes on that reached nobody")
		require.NoError(t, validar(t.Context(), client, clave))
		assert.Len(t, far.seen(), 2)
	})
}

// What the store says of a credential can be older than what its process has learned since.
func TestAnOlderAcceptanceOfTheFleetUndoesNothing(t *testing.T) {
	begin := func(t *testing.T) (*sharedGuard, *fiscope.Client, *authority) {
		store, a := newSharedGuard(), &authority{right: clave, takes: 3 * time.Second, sent: map[string]int{}}
		require.NoError(t, validar(t.Context(), store.process(t, a), clave))
		a.change("la-nueva")
		return store, store.process(t, a), a
	}
	for name, test := range map[string]struct {
		learn   func(*testing.T, *sharedGuard, *fiscope.Client)
		refused int
	}{
		"that nobody waited for the answer": {func(t *testing.T, _ *sharedGuard, c *fiscope.Client) {
			for range 50 {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				assert.Error(t, validar(ctx, c, clave))
				cancel()
			}
		}, 2},
		"a refusal, while the store was away": {func(t *testing.T, s *sharedGuard, c *fiscope.Client) {
			s.goAway(true)
			assert.ErrorIs(t, validar(t.Context(), c, clave), fiscope.ErrInvalidSOLCredentials)
			s.goAway(false)
		}, 1},
		"a refusal that Olvidar lifted": {func(t *testing.T, s *sharedGuard, c *fiscope.Client) {
			s.goAway(true)
			assert.ErrorIs(t, validar(t.Context(), c, clave), fiscope.ErrInvalidSOLCredentials)
			c.CPE.Olvidar(credenciales)
			s.goAway(false)
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, client, a := begin(t)
				test.learn(t, store, client)
				together(1000, func(int) { assert.Error(t, validar(t.Context(), client, clave)) })
				assert.LessOrEqual(t, a.refused, test.refused)
			})
		})
	}
	t.Run("a 401 that does not say what it refuses", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := newSharedGuard()
			far := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, verdict), slowly(raw(401, ""))}}
			client := store.process(t, far)
			require.NoError(t, validar(t.Context(), client, clave))
			store.goAway(true)
			require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrUnauthorized)
			time.Sleep(5 * time.Minute)
			store.goAway(false)
			together(1000, func(int) { assert.Error(t, validar(t.Context(), client, clave)) })
			assert.Len(t, far.seen(), 3, "the next one goes alone")
		})
	})
}

func TestA401WithoutACodeBlocksWhatTheFleetProvedForMinutes(t *testing.T) {
	for name, idle := range map[string]time.Duration{"within minutes": 5 * time.Minute, "an hour ago": time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newSharedGuard()
				accepts := func() *service {
					return &service{answers: []func(*http.Request) (*http.Response, error){raw(200, verdict)}}
				}
				require.NoError(t, validar(t.Context(), store.process(t, accepts()), clave))
				time.Sleep(idle)
				gateway := accepts()
				gateway.answers = append([]func(*http.Request) (*http.Response, error){raw(401, "")}, gateway.answers...)
				one, other := store.process(t, gateway), store.process(t, accepts())
				require.ErrorIs(t, validar(t.Context(), one, clave), fiscope.ErrUnauthorized)
				for _, client := range []*fiscope.Client{one, other} {
					err := validar(t.Context(), client, clave)
					require.ErrorIs(t, err, fiscope.ErrSOLCredentialsBlocked)
				}
				time.Sleep(5 * time.Minute)
				require.NoError(t, validar(t.Context(), one, clave))
				require.NoError(t, validar(t.Context(), other, clave), "the store is told for how long, too")
			})
		})
	}
}
