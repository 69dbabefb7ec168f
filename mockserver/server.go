package mockserver

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fiscope/fiscope"
)

// T is the part of [testing.TB] that [New] needs. It is an interface so that this package, which also
// runs inside programs, does not import testing.
type T interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
}

// Server is one mock of the whole service: its own data, keys, quota, SOL users and clock, shared with
// no other Server. It is an [http.Handler]; [New] and [Start] also put it on a loopback socket. All its
// methods are safe for concurrent use while it serves.
type Server struct {
	URL    string // base address without a final slash, such as "http://127.0.0.1:34567"
	APIKey string // a key this server accepts: [DefaultAPIKey], or the one given with [WithAPIKey]

	assume Assumptions
	config *config // as it started: Reset goes back to it

	clock   clock
	keys    keyring
	data    atomic.Pointer[dataset]
	writing sync.Mutex // of data: a setter must not write into what a reset drops
	faults  faults
	journal journal
	conns   atomic.Int64
	closing chan struct{} // closed when Close begins: nothing waits any longer

	t      T // nil when made by Start
	mu     sync.Mutex
	socket *listening
	memory *listening
	pipes  *pipeListener
	closed bool
}

// New starts a Server for one test and closes it when the test ends. It listens on a free loopback
// port, unless [WithoutSocket] is given; an option that cannot work ends the test at once.
func New(t T, opts ...Option) *Server {
	t.Helper()
	s, err := Start(opts...)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	s.t = t
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("mockserver: close: %v", err)
		}
	})
	return s
}

// Start starts a Server outside tests; call [Server.Close] when done. The error says which option
// cannot work, or why the address cannot be listened on.
func Start(opts ...Option) (*Server, error) {
	c := &config{assume: DefaultAssumptions(), key: DefaultAPIKey, now: time.Now, addr: "127.0.0.1:0", defaultData: true, journal: journalDefault}
	for _, opt := range opts {
		if err := opt(c); err != nil {
			return nil, fmt.Errorf("mockserver: %w", err)
		}
	}
	if err := c.assume.validate(); err != nil {
		return nil, fmt.Errorf("mockserver: %w", err)
	}
	s := &Server{URL: "http://127.0.0.1", APIKey: c.key, assume: c.assume, config: c, closing: make(chan struct{})}
	s.journal.limit = c.journal
	s.clock.source = c.now
	s.clock.start(c.at, c.frozen)
	if err := s.loadData(); err != nil {
		return nil, fmt.Errorf("mockserver: %w", err)
	}
	if c.withoutSocket {
		return s, nil
	}
	if err := s.listen(c.addr); err != nil {
		return nil, fmt.Errorf("mockserver: %w", err)
	}
	return s, nil
}

// loadData makes the data and the keys what the options brought, over the default data. Keys that stay
// keep what they used.
func (s *Server) loadData() error {
	c := s.config
	d, err := newDataset(c.defaultData, c.registro)
	if err != nil {
		return err
	}
	quota := c.assume.Quota
	if c.quota != nil {
		quota = *c.quota
	}
	keys := []Key{{c.key, quota}}
	for _, put := range c.data {
		err = errors.Join(err, d.put(put))
		keys = append(keys, put.Keys...)
	}
	for _, k := range keys {
		err = errors.Join(err, s.putKey(k))
	}
	if err != nil {
		return err
	}
	for _, k := range s.keys.all() {
		if !slices.ContainsFunc(keys, func(kept Key) bool { return kept.Key == k.Key }) {
			s.keys.remove(k.Key)
		}
	}
	d.sunatDown.Store(c.sunatDown)
	s.data.Store(d)
	return nil
}

// hoy returns the date in Lima at the server's clock.
func hoy(now time.Time) fiscope.Fecha { return fiscope.FechaEnLima(now) }

// checked reports a setter's error to the test as well: nobody checks a setter's error in a test, and
// a value that was not taken must not pass in silence.
func (s *Server) checked(setter string, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("mockserver: %s: %w", setter, err)
	if s.t != nil {
		s.t.Helper()
		s.t.Errorf("%v", err)
	}
	return err
}
